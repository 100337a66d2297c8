import { join } from 'node:path';
import { queryRows, type QueryRow } from '../../kit/duckdb/dialect/rows.ts';
import { readOnly, withDuckDB } from '../../kit/duckdb/open.ts';
import { analyticsFile } from './manifest.ts';

/** Runs a query on a snapshot and returns its rows. */
export type AskAnalytics = <R = QueryRow>(sql: string) => Promise<R[]>;

/** Opens a snapshot's `analytics.duckdb` read-only, which neither waits for a run nor delays one. */
export async function readAnalytics<Answer>(
  folder: string,
  ask: (query: AskAnalytics) => Promise<Answer>,
): Promise<Answer> {
  return withDuckDB(join(folder, analyticsFile), readOnly, (connection) => ask((sql) => queryRows(connection, sql)));
}
