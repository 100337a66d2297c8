import { setTimeout } from 'node:timers/promises';
import { exitCode } from '../kit/errors/errors.ts';
import type { Logger } from '../kit/logging/log.ts';

/** The same signal may come twice, from the process group and passed on by npm. That is one wish. */
const echoMilliseconds = 1000;
/** A process that is ending has no handler any more and would die of the second signal, so it stays for it. */
const stayMilliseconds = 200;

/** SIGHUP comes when the terminal is closed. */
const stopping = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

let controller: AbortController | undefined;

/**
 * Aborted at the first of these signals: the work ends at its next step. A second signal after a second ends
 * it at once; a process may be killed at any moment.
 */
export function stopSignal(logger?: Logger): AbortSignal {
  if (controller !== undefined) return controller.signal;
  const stop = (controller = new AbortController());
  let first: number | undefined;
  for (const name of stopping) {
    process.on(name, () => {
      first ??= performance.now();
      if (performance.now() - first > echoMilliseconds) process.exit(exitCode.failed);
      if (!stop.signal.aborted)
        logger?.info('ending after this step; once more ends at once, which loses no more than this step');
      stop.abort();
    });
  }
  return stop.signal;
}

/** True once the process was asked to end. */
export function isStopping(): boolean {
  return controller?.signal.aborted === true;
}

/** Resolves when the process is asked to end. */
export function untilStopped(): Promise<void> {
  const signal = stopSignal();
  return signal.aborted
    ? Promise.resolve()
    : new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
}

/** Waits for the endings, and for the echo of the signal. */
export async function leave(...endings: (Promise<void> | undefined)[]): Promise<void> {
  await Promise.all([...endings, setTimeout(stayMilliseconds)]);
}
