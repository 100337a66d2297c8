import type { DuckDBConnection } from '@duckdb/node-api';
import { setTimeout } from 'node:timers/promises';
import type { Progress } from '../logging/progress.ts';

/** Interval between two readings of the progress; a reading costs next to nothing. */
const pollMilliseconds = 200;

/** Shows the progress of a statement, in percent as DuckDB estimates it. */
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

/** A person waits about this long without asking whether anything happens. */
const longMilliseconds = 1000;

/** Shows progress of a statement only after it has run for a second. */
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
