import { existsSync } from 'node:fs';
import type { DataDirectory } from '../../config/data-directory.ts';
import { DeliveryStore } from './delivery-store.ts';

/**
 * Removes attempts that were made before a moment, in milliseconds since the epoch, and gives their number. The
 * postbacks themselves stay, with how often they were tried and how the last try ended, so what is still to be sent is
 * untouched.
 */
export function purgeAttempts(data: DataDirectory, before: number): number {
  if (!existsSync(data.deliveriesFile)) return 0;
  const store = DeliveryStore.open(data);
  try {
    return store.database.write(() =>
      Number(store.database.prepare('DELETE FROM attempts WHERE started_at < ?').run(before).changes),
    );
  } finally {
    store.close();
  }
}
