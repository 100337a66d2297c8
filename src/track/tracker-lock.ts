import type { DataDirectory } from '../config/data-directory.ts';
import { exitCode, OfferlineError } from '../errors/errors.ts';
import { acquireProcessLock, type LockRequest, type ProcessLock } from '../files/process-lock.ts';

/** Another process tracks for the data directory. */
export class TrackerBusyError extends OfferlineError {
  constructor(message: string) {
    super(message, exitCode.busy);
  }
}

/**
 * The right to track for a data directory, for one process at a time: caps and duplicates are counted by one, and what
 * another left unfinished is taken for left behind. Waits for another, then throws `TrackerBusyError`.
 */
export function acquireTrackerLock({ trackerLockFile }: DataDirectory, request: LockRequest): Promise<ProcessLock> {
  return acquireProcessLock(
    {
      name: 'tracker',
      lockFile: trackerLockFile,
      busy: (message) =>
        new TrackerBusyError(`${message} One tracker works on a data directory, since it counts clicks and caps.`),
    },
    request,
  );
}
