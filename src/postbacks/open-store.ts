import { existsSync } from 'node:fs';
import type { DataDirectory } from '../kit/config/data-directory.ts';
import { readSecret } from '../kit/config/secrets.ts';
import type { Settings } from '../kit/config/settings.ts';
import { UsageError } from '../kit/errors/errors.ts';
import { postgresDeliveries } from './postgres-deliveries.ts';
import { DeliveryDatabase } from './store/delivery-database.ts';
import type { DeliveryStore } from './store/delivery-store.ts';
import { SqliteStore } from './store/sqlite-store.ts';

/** Settings that name the store. */
export type StoreSettings = Pick<Settings, 'postbacks'>;

/** Returns whether the store may hold something: in SQLite it is made by the first postback. */
export function hasStore(data: DataDirectory, settings: StoreSettings): boolean {
  return isShared(settings) || existsSync(data.deliveriesFile);
}

/** Returns whether the file of this machine has a postback. A command that only looked may have made an empty one. */
export function holdsDeliveries({ deliveriesFile }: DataDirectory): boolean {
  if (!existsSync(deliveriesFile)) return false;
  const database = new DeliveryDatabase(deliveriesFile);
  try {
    return database.prepare('SELECT 1 FROM postbacks LIMIT 1').get() !== undefined;
  } finally {
    database.close();
  }
}

/** True where several workers may deliver at once: the store, not a lock of this machine, keeps them apart. */
export function isShared({ postbacks }: StoreSettings): boolean {
  return postbacks.store !== undefined;
}

/**
 * Made where there is none. Throws `OfferlineError` where it cannot be used, `StoreAwayError` where it does not
 * answer.
 */
export async function openStore(data: DataDirectory, settings: StoreSettings): Promise<DeliveryStore> {
  const address = postgresAddress(settings);
  if (address === undefined) return SqliteStore.open(data);
  if (holdsDeliveries(data))
    throw new UsageError(
      `postbacks.store names PostgreSQL, and deliveries still lie in ${data.deliveriesFile}: \`offerline postbacks move --to postgres\` brings them there`,
    );
  return (await postgresDeliveries.load()).open(address);
}

/** Undefined where the store is in SQLite. Throws `UsageError` where the address cannot be had. */
export function postgresAddress({ postbacks: { store } }: StoreSettings): string | undefined {
  return store === undefined ? undefined : readSecret('postbacks.store', store);
}
