import type { DataDirectory } from '../../kit/config/data-directory.ts';
import type { Effects } from '../../kit/files/effects.ts';
import type { LockRequest } from '../../kit/files/process-lock.ts';
import { QuarantineFolder } from '../../kit/files/quarantine-folder.ts';
import { acquireDeliveryLock } from './delivery-lock.ts';

/**
 * Moves a damaged delivery store and its log to a quarantine folder, so that a new one can be made from the warehouse.
 * No delivery pass runs meanwhile. Returns the folder: a new one, or the one called `name`, which is emptied first.
 */
export async function quarantineDeliveries(
  data: DataDirectory,
  reason: string,
  request: LockRequest,
  effects: Effects,
  name?: string,
): Promise<string> {
  const lock = await acquireDeliveryLock(data, request);
  try {
    const aside = await QuarantineFolder.make(data, reason, effects, name);
    for (const ending of ['', '-wal', '-shm']) await aside.moveIn(`${data.deliveriesFile}${ending}`);
    return aside.path;
  } finally {
    lock.release();
  }
}
