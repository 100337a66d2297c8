import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { OfferlineError, UsageError } from '../../kit/errors/errors.ts';
import type { Effects } from '../../kit/files/effects.ts';
import type { Progress } from '../../kit/logging/progress.ts';
import { compactText, momentOfMilliseconds } from '../../kit/time/moment.ts';
import { PostgresStore } from '../postgres-deliveries/postgres-store.ts';
import { assertInUse } from '../postgres-deliveries/session.ts';
import type { DeliveryContents, MovedDeliveries, StoreMove } from '../../postbacks/postgres-deliveries.ts';
import { holdsDeliveries } from '../../postbacks/open-store.ts';
import { DeliveryDatabase } from '../../postbacks/store/delivery-database.ts';
import { DeliveryQueue } from '../../postbacks/store/delivery-queue.ts';
import { copyDeliveries } from './copy-deliveries.ts';
import { PostgresAdapter } from './postgres-adapter.ts';
import { contentsOf } from './store-adapter.ts';
import { SqliteAdapter } from './sqlite-adapter.ts';

/**
 * Brings the deliveries of the file to PostgreSQL. The caller holds the writer's lock and the delivery lock.
 * Ended by force, it changes nothing that is in use, and goes on when it is called again.
 */
export async function moveToPostgres(
  { data, address, dryRun, progress }: StoreMove,
  effects: Effects,
): Promise<MovedDeliveries> {
  if (!holdsDeliveries(data)) return deliveriesInPostgres(data, address);
  const database = new DeliveryDatabase(data.deliveriesFile);
  let moved: MovedDeliveries;
  try {
    if (!dryRun) new DeliveryQueue(database).freeClaimed();
    const source = new SqliteAdapter(database);
    const store = await PostgresStore.open(address, { inUse: false });
    try {
      const target = await PostgresAdapter.take(store);
      const isThere = await assertRoom(store, target, source);
      if (dryRun) return { ...(await contentsOf(source)), from: source.where, to: target.where };
      if (!isThere && !(store.standing === 'filling' && target.storeId === source.storeId))
        await effects.perform('moved deliveries: begun', () => target.begin(source.storeId));
      const contents = isThere ? await contentsOf(target) : await copyDeliveries(source, target, progress, effects);
      await effects.perform('moved deliveries: put in use', () => target.putInUse());
      moved = { ...contents, from: source.where, to: target.where };
    } finally {
      await store.close();
    }
  } finally {
    database.close();
  }
  const aside = data.deliveriesFile.replace(
    /\.sqlite$/,
    `.moved-${compactText(momentOfMilliseconds(effects.now()))}.sqlite`,
  );
  for (const ending of ['-wal', '-shm', ''])
    if (existsSync(data.deliveriesFile + ending))
      await effects.files.rename(data.deliveriesFile + ending, aside + ending, 'moved deliveries: old file put aside');
  await effects.files.syncDirectory(dirname(aside), 'moved deliveries: folder synced');
  return moved;
}

/** Returns what is in PostgreSQL, moved before. Throws `UsageError` where there is nothing in use. */
async function deliveriesInPostgres({ deliveriesFile }: DataDirectory, address: string): Promise<MovedDeliveries> {
  const store = await PostgresStore.open(address, { inUse: false });
  try {
    assertInUse(store.standing, store.session.where);
    const moved = await contentsOf(PostgresAdapter.look(store));
    if (moved.postbacks === 0)
      throw new UsageError(`there are no deliveries to move: ${deliveriesFile} has none, nor has ${store.place}`);
    return { ...moved, from: null, to: store.place };
  } finally {
    await store.close();
  }
}

/**
 * Returns true where all of it is there already, and only the file was not put aside. Throws `UsageError` where
 * PostgreSQL holds other deliveries, or newer and older ones than these.
 */
async function assertRoom(store: PostgresStore, target: PostgresAdapter, source: SqliteAdapter): Promise<boolean> {
  if (store.standing !== 'in use') return false;
  if ((await store.count({})) === 0) return false;
  if (target.storeId === source.storeId && (await target.lastChange()) >= (await source.lastChange())) return true;
  throw new UsageError(
    `${target.where} holds deliveries of its own: name another database in postbacks.store, or put ${source.where} away if those are the right ones`,
  );
}

/** Brings the deliveries back to a file of this machine; otherwise as `moveToPostgres`. */
export async function moveToSqlite(
  { data, address, dryRun, progress }: StoreMove,
  effects: Effects,
): Promise<MovedDeliveries> {
  const store = await PostgresStore.open(address, { inUse: false });
  try {
    if (holdsDeliveries(data)) return await deliveriesInFile(data, store);
    if (store.standing === 'filling') assertInUse(store.standing, store.session.where);
    const source = await PostgresAdapter.take(store);
    if (store.standing === 'moved away') await assertLeftForHere(data, source);
    if (dryRun) return { ...(await contentsOf(source)), from: source.where, to: data.deliveriesFile };
    if (store.standing === 'in use') await source.freeClaimed();
    const contents = await fillFile(data.movedDeliveriesFile, source, progress, effects);
    for (const ending of ['-wal', '-shm', ''])
      await effects.files.remove(data.deliveriesFile + ending, 'moved deliveries: empty file removed');
    await effects.files.rename(data.movedDeliveriesFile, data.deliveriesFile, 'moved deliveries: file put in use');
    await effects.files.syncDirectory(dirname(data.deliveriesFile), 'moved deliveries: folder synced');
    return { ...contents, from: source.where, to: data.deliveriesFile };
  } finally {
    await store.close();
  }
}

/**
 * Throws `UsageError` unless a move on this machine left PostgreSQL and was interrupted then: its file is whole. The
 * deliveries are in use elsewhere, and a second copy of them would be sent, too.
 */
async function assertLeftForHere(data: DataDirectory, source: PostgresAdapter): Promise<void> {
  const changes = await source.lastChange();
  for (const file of [data.movedDeliveriesFile, data.deliveriesFile])
    if (existsSync(file) && (await isCopyOf(file, source.storeId, changes))) return;
  throw new UsageError(
    `the deliveries in ${source.where} were moved away already, on another machine or before: they are in postbacks/deliveries.sqlite of the machine that moved them; take postbacks.store out of offerline.json. Where that file is lost for good, \`offerline postbacks move --to sqlite --lost\` then goes on with what the warehouse knows of them`,
  );
}

async function isCopyOf(file: string, storeId: string, lastChange: number): Promise<boolean> {
  const database = new DeliveryDatabase(file);
  try {
    const copy = new SqliteAdapter(database);
    return copy.storeId === storeId && (await copy.lastChange()) === lastChange;
  } finally {
    database.close();
  }
}

/** Returns what is in the file, moved before. Throws `UsageError` where PostgreSQL has deliveries in use, too. */
async function deliveriesInFile({ deliveriesFile }: DataDirectory, store: PostgresStore): Promise<MovedDeliveries> {
  if (store.standing === 'in use' && (await store.count({})) > 0)
    throw new UsageError(
      `${deliveriesFile} holds deliveries of its own, and ${store.place} has others in use: put the file away if those are the right ones`,
    );
  return { ...(await contentsOfFile(deliveriesFile)), from: null, to: deliveriesFile };
}

/** Reads all deliveries of a file. */
export async function contentsOfFile(file: string): Promise<DeliveryContents> {
  const database = new DeliveryDatabase(file);
  try {
    return await contentsOf(new SqliteAdapter(database));
  } finally {
    database.close();
  }
}

/** Fills the file with what PostgreSQL held when it was left for good. */
async function fillFile(
  file: string,
  source: PostgresAdapter,
  progress: Progress,
  effects: Effects,
): Promise<DeliveryContents> {
  if (existsSync(file) && storeIdIn(file) !== source.storeId)
    for (const ending of ['-wal', '-shm', ''])
      await effects.files.remove(file + ending, 'moved deliveries: another file removed');
  const database = new DeliveryDatabase(file);
  try {
    const target = new SqliteAdapter(database);
    target.begin(source.storeId);
    const contents = await copyDeliveries(source, target, progress, effects);
    const lastChange = await target.lastChange();
    const isLeft = await effects.perform('moved deliveries: PostgreSQL left', () => source.moveAway(lastChange));
    if (!isLeft)
      throw new OfferlineError(`${source.where} has changed meanwhile: run it again, and it brings what is new`);
    return contents;
  } finally {
    database.close();
  }
}

function storeIdIn(file: string): string {
  const database = new DeliveryDatabase(file);
  try {
    return new SqliteAdapter(database).storeId;
  } finally {
    database.close();
  }
}
