import type { DuckDBConnection } from '@duckdb/node-api';
import type { Moment } from '../../../kit/time/moment.ts';
import { figureParameters } from '../../models/windows.ts';
import { loadTexts } from '../../sql/run-inputs.ts';
import { modelQuery } from '../../sql/model-query.ts';
import { modelNames, readModel } from '../../sql/sql-model.ts';

/** Fills the table that the `metrics` mart reads from the files of `sql/metrics`, one figure each. */
export async function loadMetrics(connection: DuckDBConnection, asOf: Moment): Promise<void> {
  const rows = modelNames('metrics').map((name) => {
    const { purpose, grain, facts } = readModel('metrics', name);
    const { unit, 'served as': servedAs } = facts;
    if (unit === undefined || servedAs === undefined)
      throw new Error(`sql/metrics/${name}.sql has no "unit:" or no "served as:" in its header`);
    const sql = modelQuery('metrics', name, figureParameters(asOf));
    return { metric: name, definition: purpose, unit, grain, served_as: servedAs, sql };
  });
  await loadTexts(connection, 'run_metrics', rows);
}
