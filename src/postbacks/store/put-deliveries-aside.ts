import type { DataDirectory } from '../../kit/config/data-directory.ts';
import type { Effects } from '../../kit/files/effects.ts';
import type { LockRequest } from '../../kit/files/process-lock.ts';
import { QuarantineFolder } from '../../kit/files/quarantine-folder.ts';
import { acquireDeliveryLock } from './delivery-lock.ts';

/**
 * Puts a damaged delivery store aside, with its log, so that a new one can be made of what the warehouse knows. No pass
 * goes on meanwhile. Gives the folder: a new one, or that of `name`, in the place of what was in it.
 */
export async function putDeliveriesAside(
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
