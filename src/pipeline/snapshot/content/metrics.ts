import type { DuckDBConnection } from '@duckdb/node-api';
import { quoted } from '../../../kit/text/sql-text.ts';
import type { Moment } from '../../../kit/time/moment.ts';
import { figureParameters } from '../../models/windows.ts';
import { makeRunInput } from '../../sql/run-inputs.ts';
import { modelQuery } from '../../sql/model-query.ts';
import { modelNames, readModel } from '../../sql/sql-model.ts';

/** Fills the table that the `metrics` mart reads from the files of `sql/metrics`, one figure each. */
export async function loadMetrics(connection: DuckDBConnection, asOf: Moment): Promise<void> {
  const metrics = await makeRunInput(connection, 'run_metrics');
  const rows = modelNames('metrics').map((name) => {
    const { purpose, grain, facts } = readModel('metrics', name);
    const { unit, 'served as': servedAs } = facts;
    if (unit === undefined || servedAs === undefined)
      throw new Error(`sql/metrics/${name}.sql has no "unit:" or no "served as:" in its header`);
    return [name, purpose, unit, grain, servedAs, modelQuery('metrics', name, figureParameters(asOf))];
  });
  await connection.run(
    `INSERT INTO ${metrics} VALUES ${rows.map((row) => `(${row.map(quoted).join(', ')})`).join(', ')}`,
  );
}
