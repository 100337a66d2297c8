import { lstatSync, statSync } from 'node:fs';
import type { DataDirectory } from '../kit/config/data-directory.ts';
import { exitCode, OfferlineError } from '../kit/errors/errors.ts';
import { machineFailure } from '../kit/errors/machine-failure.ts';
import { makePrivateFolder } from '../kit/files/effects.ts';
import { acquireProcessLock, type LockRequest, type ProcessLock } from '../kit/files/process-lock.ts';

/** Another process tracks for the data directory, or into its landing folder. */
export class TrackerBusyError extends OfferlineError {
  constructor(message: string) {
    super(message, exitCode.busy);
  }
}

/**
 * Acquires the right to track for a data directory and into its landing folder, which machines may share. One process
 * has it at a time: it alone counts caps and duplicates, and recovers what it finds unfinished. Waits for another
 * tracker, then throws `TrackerBusyError`. `standby`: waits for one of another machine by this request.
 */
export async function acquireTrackerLock(
  data: DataDirectory,
  request: LockRequest,
  standby: LockRequest = request,
): Promise<ProcessLock> {
  const own = await acquire(data.trackerLockFile, 'data directory', request);
  try {
    makeLockFolder(data);
    const shared = await acquire(data.landingLockFile, 'landing folder', standby);
    return {
      release() {
        shared.release();
        own.release();
      },
    };
  } catch (error) {
    own.release();
    throw error;
  }
}

function acquire(lockFile: string, what: string, request: LockRequest): Promise<ProcessLock> {
  const busy = (message: string) =>
    new TrackerBusyError(`${message} One tracker works on a ${what}, since it counts clicks and caps.`);
  return acquireProcessLock({ name: 'tracker', lockFile, busy }, request);
}

/** Others may write to landing: a folder of theirs in this place is not used. */
function makeLockFolder({ root, landingLocks }: DataDirectory): void {
  try {
    makePrivateFolder(landingLocks);
    const found = lstatSync(landingLocks);
    const isOurs = found.uid === process.getuid?.() || found.uid === statSync(root).uid;
    if (found.isDirectory() && isOurs) return;
  } catch (error) {
    throw (
      machineFailure(error) ??
      new OfferlineError(`${landingLocks} cannot be made: ${(error as Error).message}`, undefined, { cause: error })
    );
  }
  throw new OfferlineError(`${landingLocks} is no folder of the tracker's own user: remove it, and start again.`);
}
