import type { DuckDBConnection } from '@duckdb/node-api';

/** What is nearly done may end by itself, which loses nothing. Milliseconds. */
const grace = 2000;
/** Between two statements there is nothing to interrupt, so it is tried again. Milliseconds. */
const betweenTries = 100;

/**
 * Does the work, and interrupts whatever statement runs on the connection once the signal has been aborted for two
 * seconds, until the work has ended: it then throws what `tellsInterruption` knows. A process that is asked to end has
 * ten seconds with most supervisors.
 */
export async function untilInterrupted<Result>(
  connection: Pick<DuckDBConnection, 'interrupt'>,
  stop: AbortSignal | undefined,
  work: () => Promise<Result>,
  after: number = grace,
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const interrupt = () => {
    connection.interrupt();
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

/** Whether an error is that of a statement that was interrupted. */
export function tellsInterruption(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('INTERRUPT Error');
}
