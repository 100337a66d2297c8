import { shortestDecimal } from '../../kit/text/sql-text.ts';
import { randomUUID } from 'node:crypto';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Run, Stage } from '../runs/stage.ts';
import type { StateDatabase } from '../warehouse/database.ts';
import { queryRows } from '../../kit/duckdb/dialect/rows.ts';
import { insertRows } from '../../kit/duckdb/insert-rows.ts';
import { dayOf } from '../../kit/time/moment.ts';
import { deleteMetadata, readMetadata, writeMetadata } from '../warehouse/metadata.ts';
import { markPostbackDays } from '../warehouse/dirty-partitions.ts';
import { isDamagedDeliveries } from '../../postbacks/store/delivery-database.ts';
import { hasStore, openStore } from '../../postbacks/open-store.ts';
import type { AttemptRecord, DeliveryState, OutboxRow } from '../../postbacks/store/delivery-rows.ts';
import { StoreAwayError } from '../../postbacks/store/delivery-store.ts';
import type { SyncStore } from '../../postbacks/store/sync-store.ts';
import {
  assertSameStore,
  assertStoreHere,
  readKnownStore,
  rereadKnownStore,
  writeKnownStore,
  type KnownStore,
} from './known-store.ts';
import { quarantineDeliveries } from '../../postbacks/store/quarantine-deliveries.ts';

export interface DeliverySync {
  /** Postbacks handed to delivery. */
  handedOver: number;
  /** Postbacks whose state changed since the last run. */
  changed: number;
  attempts: number;
}

/** Metadata key of the warehouse's id: each warehouse numbers its outbox from 1. */
export const warehouseIdKey = 'warehouse_id';
const chunkRows = 20_000;
const nothingSynced: DeliverySync = { handedOver: 0, changed: 0, attempts: 0 };

/**
 * Hands new postbacks of the outbox to the delivery store, and reads changed states back into the warehouse. Nothing
 * else connects the two. Both steps can be repeated, so a killed run does no harm, and a new warehouse or a new store
 * gets everything from the other. Changed states alone make no snapshot; the next one shows them.
 */
export const syncDeliveries: Stage<StateDatabase, DeliverySync> = {
  name: 'sync-deliveries',
  async run(run, state) {
    const outbox = await state.db.selectFrom('outbox').select('number').limit(1).execute();
    if (outbox.length === 0 && !hasStore(run.data, run.settings)) return nothingSynced;
    try {
      return await sync(run, state);
    } catch (error) {
      if (error instanceof StoreAwayError) {
        run.logger.warn(`${error.message}; this run goes on, and the next one hands new postbacks over`);
        return nothingSynced;
      }
      if (!isDamagedDeliveries(error)) throw error;
      await quarantineStore(run, (error as Error).message);
      return sync(run, state);
    }
  },
};

async function sync(run: Run, state: StateDatabase): Promise<DeliverySync> {
  const { connection } = state;
  const known = await readKnownStore(connection);
  assertStoreHere(known, run);
  const store = await run.effects.perform('delivery store: opened', () => openStore(run.data, run.settings));
  try {
    assertSameStore(known, store);
    const isSame = known.storeId === store.storeId;
    if (!isSame) await restore(run, connection, store, known);
    const reading = { upTo: isSame ? (known.upTo ?? 0) : 0, changed: 0, attempts: 0 };
    await readChanges(state, store, reading);
    const handedOver = await importOutbox(run, state, store, reading);
    await readChanges(state, store, reading);
    if (known.place !== store.place) await writeKnownStore(connection, store, reading.upTo);
    return { handedOver, changed: reading.changed, attempts: reading.attempts };
  } finally {
    await store.close();
  }
}

/**
 * Makes the next sync hand the whole outbox over and read the whole store again. Called for the state of a backup: a
 * store that ran on has imported outbox numbers that this outbox will give to other postbacks, and an older store will
 * give new changes numbers that were read before.
 */
export async function forgetSyncPositions(connection: DuckDBConnection): Promise<void> {
  await deleteMetadata(connection, warehouseIdKey);
  await rereadKnownStore(connection);
}

async function quarantineStore({ data, settings, logger, effects }: Run, problem: string): Promise<void> {
  const request = {
    command: 'run refresh',
    waitSeconds: settings.lock_wait_seconds,
    onWaiting: (message: string) => logger.info(message),
  };
  const folder = await quarantineDeliveries(data, problem, request, effects);
  logger.warn({ folder, problem }, 'the delivery store is damaged: moved to put-aside/, making a new one');
}

/**
 * Restores a new store from the warehouse, so that what the last run knew as delivered is not sent again. A warehouse
 * that knows no store has deliveries where they were copied from a snapshot: of a store that is not lost, too.
 */
async function restore(run: Run, connection: DuckDBConnection, store: SyncStore, known: KnownStore): Promise<void> {
  if (known.storeId !== undefined)
    run.logger.warn(
      'the delivery store is new: restoring deliveries from the warehouse; what was delivered since the last run is sent once more, under the same ids',
    );
  let restored = 0;
  for (let from = 0; ;) {
    const rows = await queryRows<DeliveryState & { number: number }>(
      connection,
      `SELECT number, ${outboxColumns}, state, attempts, last_attempt_at AS "lastAttemptAt", last_status AS "lastStatus", last_error AS "lastError",
         delivered_at AS "deliveredAt", next_attempt_at AS "nextAttemptAt"
       FROM outbox JOIN (SELECT * EXCLUDE (reward) FROM delivery_states) AS delivery USING (webhook_id)
       WHERE number > $1 ORDER BY number LIMIT ${chunkRows}`,
      [BigInt(from)],
    );
    const last = rows.at(-1);
    if (last === undefined) break;
    from = last.number;
    restored += await run.effects.perform('delivery store: restored', () => store.restore(rows));
  }
  if (known.storeId === undefined && restored > 0)
    run.logger.warn(
      'the delivery store is new: deliveries are restored from the published snapshot; what was delivered since that was built is sent once more, under the same ids',
    );
}

const outboxColumns = `webhook_id AS "webhookId", conversion_id AS "conversionId", kind, click_id AS "clickId", site_key AS "siteKey",
  user_id AS "userId", offer_id AS "offerId", ${shortestDecimal('reward')} AS reward,
  occurred_at AS "occurredAt", enqueued_at AS "enqueuedAt", further`;

/** Progress of reading the store's changes. */
interface Reading {
  upTo: number;
  changed: number;
  attempts: number;
}

/** Imports the outbox into the store. The imported rows are not read back, unless a pass wrote in between. */
async function importOutbox(run: Run, state: StateDatabase, store: SyncStore, reading: Reading): Promise<number> {
  const { connection } = state;
  const warehouseId = await warehouseIdOf(state);
  let handedOver = 0;
  for (;;) {
    const rows = await queryRows<OutboxRow>(
      connection,
      `SELECT number, ${outboxColumns}
       FROM outbox WHERE number > $1 ORDER BY number LIMIT ${chunkRows}`,
      [BigInt(await store.importedUpTo(warehouseId))],
    );
    if (rows.length === 0) break;
    const { added, changes } = await run.effects.perform('delivery store: outbox imported', () =>
      store.importOutbox(warehouseId, rows),
    );
    handedOver += added;
    if (changes.before === reading.upTo) reading.upTo = changes.after;
  }
  if (handedOver > 0) await writeKnownStore(connection, store, reading.upTo);
  return handedOver;
}

async function warehouseIdOf({ connection }: StateDatabase): Promise<string> {
  const known = await readMetadata(connection, warehouseIdKey);
  if (known !== undefined) return known;
  const made = randomUUID();
  await writeMetadata(connection, warehouseIdKey, made);
  return made;
}

async function readChanges(state: StateDatabase, store: SyncStore, reading: Reading): Promise<void> {
  const { connection } = state;
  for (;;) {
    const changes = await store.changesSince(reading.upTo, chunkRows);
    if (changes.upTo === reading.upTo) return;
    if (changes.upTo < reading.upTo) {
      // It came back from an older copy of itself, and has given numbers again that were read before.
      reading.upTo = 0;
      continue;
    }
    await state.transaction(async () => {
      await storeStates(connection, changes.postbacks);
      await storeAttempts(connection, changes.attempts);
      await writeKnownStore(connection, store, changes.upTo);
    }, 'sync of deliveries');
    reading.upTo = changes.upTo;
    reading.changed += changes.postbacks.length;
    reading.attempts += changes.attempts.length;
  }
}

/** Writes the states of postbacks. */
async function storeStates(connection: DuckDBConnection, postbacks: readonly DeliveryState[]): Promise<void> {
  if (postbacks.length === 0) return;
  await insertRows(
    connection,
    'delivery_states',
    {
      webhook_id: 'VARCHAR',
      reward: 'VARCHAR',
      state: 'VARCHAR',
      attempts: 'INTEGER',
      last_attempt_at: 'VARCHAR',
      last_status: 'INTEGER',
      last_error: 'VARCHAR',
      delivered_at: 'VARCHAR',
      next_attempt_at: 'VARCHAR',
    },
    postbacks.map((postback) => ({
      webhook_id: postback.webhookId,
      reward: postback.reward,
      state: postback.state,
      attempts: postback.attempts,
      last_attempt_at: postback.lastAttemptAt,
      last_status: postback.lastStatus,
      last_error: postback.lastError,
      delivered_at: postback.deliveredAt,
      next_attempt_at: postback.nextAttemptAt,
    })),
    { replacing: ['webhook_id'] },
  );
  // Only rows of this warehouse's outbox: the store may have postbacks of an earlier warehouse.
  await markPostbackDays(
    connection,
    'postbacks',
    `SELECT enqueued_at::DATE AS day FROM outbox WHERE webhook_id IN (SELECT unnest(from_json($1, '["VARCHAR"]')))`,
    [JSON.stringify(postbacks.map(({ webhookId }) => webhookId))],
  );
}

/** Writes attempts that have ended. */
async function storeAttempts(connection: DuckDBConnection, attempts: readonly AttemptRecord[]): Promise<void> {
  if (attempts.length === 0) return;
  await insertRows(
    connection,
    'delivery_attempts',
    {
      webhook_id: 'VARCHAR',
      attempt: 'INTEGER',
      started_at: 'VARCHAR',
      duration_ms: 'INTEGER',
      status: 'INTEGER',
      error: 'VARCHAR',
      host: 'VARCHAR',
    },
    attempts.map(({ webhookId, startedAt, durationMilliseconds, ...attempt }) => ({
      webhook_id: webhookId,
      attempt: attempt.attempt,
      started_at: startedAt,
      duration_ms: durationMilliseconds,
      status: attempt.status,
      error: attempt.error,
      host: attempt.host,
    })),
    { replacing: ['webhook_id', 'attempt'] },
  );
  const days = new Set(attempts.map(({ startedAt }) => dayOf(startedAt)));
  const values = [...days].map((day) => `(DATE '${day}')`).join(', ');
  await markPostbackDays(connection, 'postback_attempts', `SELECT day FROM (VALUES ${values}) AS days (day)`);
}
