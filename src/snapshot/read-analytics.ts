import { DuckDBInstance } from '@duckdb/node-api';
import { join } from 'node:path';
import { queryRows, type Row } from '../duckdb/dialect/rows.ts';
import { analyticsFile } from './layout.ts';

/** Asks a snapshot's `analytics.duckdb` read-only, as an analyst does: neither waits for a run nor holds one up. */
export async function readAnalytics<Answer>(
  folder: string,
  ask: (query: <R = Row>(sql: string) => Promise<R[]>) => Promise<Answer>,
): Promise<Answer> {
  const instance = await DuckDBInstance.create(join(folder, analyticsFile), { access_mode: 'READ_ONLY' });
  try {
    const connection = await instance.connect();
    await connection.run("SET TimeZone = 'UTC'");
    try {
      return await ask((sql) => queryRows(connection, sql));
    } finally {
      connection.closeSync();
    }
  } finally {
    instance.closeSync();
  }
}
