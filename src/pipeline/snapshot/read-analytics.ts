import { queryRows, type QueryRow } from '../../kit/duckdb/dialect/rows.ts';
import { openAnalytics } from './movable-files.ts';

/** Runs a query on a snapshot and returns its rows. */
export type AskAnalytics = <R = QueryRow>(sql: string) => Promise<R[]>;

/** Opens a snapshot's `analytics.duckdb` read-only, which neither waits for a run nor delays one. */
export async function readAnalytics<Answer>(
  folder: string,
  ask: (query: AskAnalytics) => Promise<Answer>,
): Promise<Answer> {
  const database = await openAnalytics(folder);
  try {
    return await ask((sql) => queryRows(database.connection, sql));
  } finally {
    database.close();
  }
}
