import type { DataDirectory } from '../config/data-directory.ts';
import { exitCode, OfferlineError } from '../errors/errors.ts';
import { acquireProcessLock } from '../files/process-lock.ts';
import type { LockRequest, ProcessLock } from '../files/process-lock.ts';

/** Another process serves the data directory. */
export class ServiceBusyError extends OfferlineError {
  constructor(message: string) {
    super(message, exitCode.busy);
  }
}

/**
 * The right to serve a data directory, for one process at a time: each counts the rate limits by itself, so that two
 * would let twice as many requests pass. Waits for another, which may be finishing its answers, and then throws
 * `ServiceBusyError`.
 */
export function acquireServiceLock({ serviceLockFile }: DataDirectory, request: LockRequest): Promise<ProcessLock> {
  return acquireProcessLock(
    {
      name: 'HTTP service',
      lockFile: serviceLockFile,
      busy: (message) =>
        new ServiceBusyError(`${message} One service works on a data directory, since it counts the rate limits.`),
    },
    request,
  );
}
