import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { exitCode, OfferlineError } from '../../kit/errors/errors.ts';
import { acquireProcessLock, type LockRequest, type ProcessLock } from '../../kit/files/process-lock.ts';

/** Another process delivers postbacks. */
export class DeliveryBusyError extends OfferlineError {
  constructor(message: string) {
    super(message, exitCode.busy);
  }
}

/**
 * The right to deliver, for one pass at a time. Waits for another up to `waitSeconds`, then throws `DeliveryBusyError`.
 */
export function acquireDeliveryLock({ deliveryLockFile }: DataDirectory, request: LockRequest): Promise<ProcessLock> {
  return acquireProcessLock(
    { name: 'delivery of postbacks', lockFile: deliveryLockFile, busy: (message) => new DeliveryBusyError(message) },
    request,
  );
}
