import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { WarehouseBusyError } from '../../kit/errors/errors.ts';
import { acquireProcessLock, readHolder } from '../../kit/files/process-lock.ts';
import type { LockEffects, LockHolder, LockRequest, ProcessLock } from '../../kit/files/process-lock.ts';

export type { LockEffects, LockHolder, LockRequest, ProcessLock as WriterLock } from '../../kit/files/process-lock.ts';

/**
 * Takes the right to write to the warehouse, for one process at a time. Waits for another holder up to `waitSeconds`,
 * then throws `WarehouseBusyError` naming it.
 */
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

/** Who holds the warehouse now; undefined where nobody does. Neither opens nor takes it. */
export function readWarehouseHolder({ lockFile }: DataDirectory): LockHolder | undefined {
  return readHolder(lockFile);
}
