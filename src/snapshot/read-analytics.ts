import { join } from 'node:path';
import { queryRows, type Row } from '../duckdb/dialect/rows.ts';
import { readOnly, withDuckDB } from '../duckdb/open.ts';
import { analyticsFile } from './manifest.ts';

/** Asks a snapshot's `analytics.duckdb` read-only, as an analyst does: neither waits for a run nor holds one up. */
export async function readAnalytics<Answer>(
  folder: string,
  ask: (query: <R = Row>(sql: string) => Promise<R[]>) => Promise<Answer>,
): Promise<Answer> {
  return withDuckDB(join(folder, analyticsFile), readOnly, (connection) => ask((sql) => queryRows(connection, sql)));
}
