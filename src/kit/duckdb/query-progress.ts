import type { DuckDBConnection } from '@duckdb/node-api';
import { setTimeout } from 'node:timers/promises';
import type { Progress } from '../logging/progress.ts';

/** Often enough to look alive; reading it costs next to nothing. */
const pollMilliseconds = 200;

/** Shows how far the statement under way has come, in percent as DuckDB estimates them. */
export async function showProgress<Result>(
  connection: DuckDBConnection,
  progress: Progress,
  label: string,
  work: () => Promise<Result>,
): Promise<Result> {
  progress.start(label, 100);
  const timer = setInterval(
    () => progress.advance(Math.max(0, Math.round(connection.progress.percentage))),
    pollMilliseconds,
  );
  try {
    return await work();
  } finally {
    clearInterval(timer);
    progress.finish();
  }
}

/** Longer than a person waits without asking whether anything happens. */
const longMilliseconds = 1000;

/** The same for statements that mostly take no time: nothing is shown of those. */
export async function showProgressWhenLong<Result>(
  connection: DuckDBConnection,
  progress: Progress,
  label: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const result = work();
  const finished = result.then(
    () => false,
    () => false,
  );
  const wait = new AbortController();
  const long = await Promise.race([
    finished,
    setTimeout(longMilliseconds, true, { signal: wait.signal }).catch(() => false),
  ]);
  wait.abort();
  return long ? showProgress(connection, progress, label, () => result) : result;
}
