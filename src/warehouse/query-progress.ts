import type { DuckDBConnection } from '@duckdb/node-api';
import type { Progress } from '../stage/progress.ts';

/** Often enough to look alive; reading it costs next to nothing. */
const pollMilliseconds = 200;

/** Shows how far the statement under way has come, in percent as DuckDB estimates them. */
export async function showProgress<Result>(connection: DuckDBConnection, progress: Progress, label: string, work: () => Promise<Result>): Promise<Result> {
  progress.start(label, 100);
  const timer = setInterval(() => progress.advance(Math.max(0, Math.round(connection.progress.percentage))), pollMilliseconds);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    progress.finish();
  }
}
