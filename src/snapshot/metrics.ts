import type { DuckDBConnection } from '@duckdb/node-api';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { quoted } from '../text/sql-text.ts';
import type { Moment } from '../time/moment.ts';
import { readModel, sqlFolder } from '../warehouse/sql-model.ts';
import { withParameters } from '../duckdb/sql-parameters.ts';
import { figureParameters } from '../models/windows.ts';

/** What the `metrics` mart reads: the files of `sql/metrics`, one figure each. */
export async function loadMetrics(connection: DuckDBConnection, asOf: Moment): Promise<void> {
  await connection.run(
    `CREATE OR REPLACE TEMP TABLE run_metrics (metric VARCHAR, definition VARCHAR, unit VARCHAR, grain VARCHAR, served_as VARCHAR, sql VARCHAR)`,
  );
  const rows = readdirSync(join(sqlFolder, 'metrics'))
    .toSorted()
    .map((file) => {
      const { name, purpose, grain, facts, query } = readModel('metrics', file.replace(/\.sql$/, ''));
      const { unit, 'served as': servedAs } = facts;
      if (unit === undefined || servedAs === undefined)
        throw new Error(`sql/metrics/${file} has no "unit:" or no "served as:" in its header`);
      return [name, purpose, unit, grain, servedAs, withParameters(query, figureParameters(asOf))];
    });
  await connection.run(
    `INSERT INTO run_metrics VALUES ${rows.map((row) => `(${row.map(quoted).join(', ')})`).join(', ')}`,
  );
}
