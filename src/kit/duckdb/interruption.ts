import type { DuckDBConnection } from '@duckdb/node-api';

/** A statement that is nearly done may end by itself, which loses nothing. Milliseconds. */
const grace = 2000;
/** An interrupt between two statements has no effect, so it is repeated. Milliseconds. */
const betweenTries = 100;

/**
 * Does the work. Two seconds after the signal is aborted it interrupts the statements of a connection, or of several,
 * until the work has ended; the work then throws an error for which `isInterruption` is true. Most supervisors give a
 * process ten seconds to end.
 */
export async function untilInterrupted<Result>(
  statements: Pick<DuckDBConnection, 'interrupt'>,
  stop: AbortSignal | undefined,
  work: () => Promise<Result>,
  after: number = grace,
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const interrupt = () => {
    statements.interrupt();
    timer = setTimeout(interrupt, betweenTries);
  };
  const onStop = () => {
    timer = setTimeout(interrupt, after);
  };
  if (stop?.aborted === true) onStop();
  stop?.addEventListener('abort', onStop);
  try {
    return await work();
  } finally {
    stop?.removeEventListener('abort', onStop);
    clearTimeout(timer);
  }
}

/** True for the error of an interrupted statement. */
export function isInterruption(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('INTERRUPT Error');
}
