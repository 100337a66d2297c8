import { join } from 'node:path';
import { queryRows, type Row } from '../../kit/duckdb/dialect/rows.ts';
import { readOnly, withDuckDB } from '../../kit/duckdb/open.ts';
import { analyticsFile } from './manifest.ts';

/** Gives the rows of a query to a snapshot. */
export type AskAnalytics = <R = Row>(sql: string) => Promise<R[]>;

/** Asks a snapshot's `analytics.duckdb` read-only, as an analyst does: neither waits for a run nor holds one up. */
export async function readAnalytics<Answer>(
  folder: string,
  ask: (query: AskAnalytics) => Promise<Answer>,
): Promise<Answer> {
  return withDuckDB(join(folder, analyticsFile), readOnly, (connection) => ask((sql) => queryRows(connection, sql)));
}
