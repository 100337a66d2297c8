import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { WarehouseBusyError } from '../../kit/errors/errors.ts';
import { acquireProcessLock, readLockHolder } from '../../kit/files/process-lock.ts';
import type { LockEffects, LockHolder, LockRequest, ProcessLock } from '../../kit/files/process-lock.ts';

export type { LockEffects, LockHolder, LockRequest, ProcessLock as WriterLock } from '../../kit/files/process-lock.ts';

/** Locks the warehouse for writing. Waits for another holder up to `waitSeconds`, then throws `WarehouseBusyError`. */
export function acquireWriterLock(
  { lockFile }: DataDirectory,
  request: LockRequest,
  effects?: LockEffects,
): Promise<ProcessLock> {
  return acquireProcessLock(
    { name: 'warehouse', lockFile, busy: (message) => new WarehouseBusyError(message) },
    request,
    effects,
  );
}

/** Returns the process that holds the warehouse now, if any. Neither opens nor locks it. */
export function readWarehouseHolder({ lockFile }: DataDirectory): LockHolder | undefined {
  return readLockHolder(lockFile);
}
