import type { DataDirectory } from '../kit/config/data-directory.ts';
import { exitCode, OfferlineError } from '../kit/errors/errors.ts';
import { isDiskUnwritable } from '../kit/errors/machine-failure.ts';
import { acquireProcessLock } from '../kit/files/process-lock.ts';
import type { LockRequest, ProcessLock } from '../kit/files/process-lock.ts';
import type { Logger } from '../kit/logging/log.ts';

/** Another process serves the data directory. */
class ServiceBusyError extends OfferlineError {
  constructor(message: string) {
    super(message, exitCode.busy);
  }
}

/**
 * The right to serve a data directory, for one process at a time: each counts the rate limits by itself, so that two
 * would let twice as many requests pass. Waits for another, which may be finishing its answers, and then throws
 * `ServiceBusyError`. Where the disk takes nothing more there is no lock to be had, and what was published is served
 * all the same.
 */
export async function acquireServiceLock(
  { serviceLockFile }: DataDirectory,
  request: LockRequest,
  log: Logger,
  acquire: typeof acquireProcessLock = acquireProcessLock,
): Promise<ProcessLock> {
  const busy = (message: string) =>
    new ServiceBusyError(`${message} One service works on a data directory, since it counts the rate limits.`);
  try {
    return await acquire({ name: 'HTTP service', lockFile: serviceLockFile, busy }, request);
  } catch (error) {
    if (!isDiskUnwritable(error)) throw error;
    log.error(
      { reason: (error as Error).message },
      'the disk takes nothing more: what was published is served without the lock of the service; free some room, and start no other service here until then',
    );
    return { release: () => undefined };
  }
}
