import type { StatementSync } from 'node:sqlite';
import type { DataDirectory } from '../../config/data-directory.ts';
import type { Moment } from '../../time/moment.ts';
import { ClickOrder } from './click-order.ts';
import { DeliveryDatabase } from './delivery-database.ts';
import {
  type AttemptRecord,
  type DeliveryState,
  type OutboxRow,
  attemptRecordOf,
  deliveryStateOf,
  millisecondsOf,
  stateColumns,
  sortKeyOf,
} from './delivery-rows.ts';
import { plannedAttempts } from '../rules/retry-plan.ts';

export type { AttemptRecord, DeliveryState, OutboxRow } from './delivery-rows.ts';

export interface DeliveryChanges {
  postbacks: DeliveryState[];
  attempts: AttemptRecord[];
  /** Where the next call goes on; what was asked for itself when nothing has changed since. */
  upTo: number;
}

export interface OutboxImport {
  /** Postbacks that were not here yet. */
  added: number;
  /** The store's last change before the import and after it; between them are imported rows only. */
  changes: { before: number; after: number };
}

/**
 * The state of every postback and each attempt, in an SQLite file that several processes write to at the same time:
 * refreshes hand over what the warehouse's outbox holds, a pass delivers. What was committed survives everything.
 */
export class DeliveryStore {
  /** Made at random with the file: another one means that the store is a new one. */
  readonly storeId: string;
  readonly database: DeliveryDatabase;
  readonly #order: ClickOrder;
  readonly #readOffset: StatementSync;
  readonly #insert: StatementSync;
  readonly #writeOffset: StatementSync;
  readonly #restore: StatementSync;
  readonly #changedPostbacks: StatementSync;
  readonly #changedAttempts: StatementSync;
  readonly #lastChange: StatementSync;

  constructor(database: DeliveryDatabase) {
    this.database = database;
    this.#order = new ClickOrder(database);
    this.storeId = String(database.prepare('SELECT store_id FROM store').get()?.['store_id']);
    this.#readOffset = database.prepare('SELECT up_to FROM outbox_offsets WHERE warehouse_id = ?');
    this.#writeOffset = database.prepare(`INSERT INTO outbox_offsets (warehouse_id, up_to) VALUES (?, ?)
      ON CONFLICT (warehouse_id) DO UPDATE SET up_to = max(up_to, excluded.up_to)`);
    this.#insert = database.prepare(`INSERT INTO postbacks
      (webhook_id, conversion_id, kind, click_id, site_key, user_id, offer_id, reward, occurred_at, enqueued_at, sort_key, next_attempt_at, change)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (webhook_id) DO NOTHING`);
    this.#restore =
      database.prepare(`UPDATE postbacks SET state = ?, attempts = ?, plan_attempts = min(?, ${plannedAttempts - 1}), last_attempt_at = ?, last_status = ?,
      last_error = ?, delivered_at = ?, next_attempt_at = ? WHERE webhook_id = ?`);
    this.#changedPostbacks = database.prepare(
      `SELECT change, ${stateColumns} FROM postbacks WHERE change > ? ORDER BY change LIMIT ?`,
    );
    this.#changedAttempts =
      database.prepare(`SELECT attempts.change, webhook_id, attempt, started_at, duration_ms, status, error, host
      FROM attempts JOIN postbacks USING (sequence) WHERE attempts.change > ? ORDER BY attempts.change LIMIT ?`);
    this.#lastChange = database.prepare('SELECT changes FROM store');
  }

  /** Makes the file where there is none. Throws `OfferlineError` where it cannot be used. */
  static open(data: DataDirectory): DeliveryStore {
    return new DeliveryStore(new DeliveryDatabase(data.deliveriesFile));
  }

  /** The greatest number imported from that warehouse's outbox; 0 when none. */
  importedUpTo(warehouseId: string): number {
    return Number(this.#readOffset.get(warehouseId)?.['up_to'] ?? 0);
  }

  /** Imports rows of the outbox, all or none; those that are here already stay as they are. */
  importOutbox(warehouseId: string, rows: Iterable<OutboxRow>): OutboxImport {
    return this.database.write(() => {
      const before = this.database.lastChange();
      let added = 0;
      let upTo = 0;
      for (const row of rows) {
        upTo = Math.max(upTo, row.number);
        if (!this.#add(row, row.enqueuedAt)) continue;
        added += 1;
        this.#order.refreshHead(row.clickId);
      }
      if (upTo > 0) this.#writeOffset.run(warehouseId, upTo);
      return { added, changes: { before, after: this.database.lastChange() } };
    });
  }

  /**
   * Brings a store that was lost back from what the warehouse last saw of it. What was delivered is not sent again;
   * what was tried since is. Those that are here already stay as they are. Returns how many were new.
   */
  restore(states: Iterable<DeliveryState>): number {
    const milliseconds = (moment: string | null) => (moment === null ? null : millisecondsOf(moment));
    return this.database.write(() => {
      let added = 0;
      for (const each of states) {
        const { state, attempts, lastAttemptAt, lastStatus, lastError, deliveredAt, nextAttemptAt } = each;
        if (!this.#add(each, nextAttemptAt ?? each.enqueuedAt)) continue;
        added += 1;
        const ended = state === 'delivered' || state === 'dead';
        this.#restore.run(
          ended ? state : 'pending',
          attempts,
          attempts,
          milliseconds(lastAttemptAt),
          lastStatus,
          lastError,
          milliseconds(deliveredAt),
          ended ? null : milliseconds(nextAttemptAt ?? each.enqueuedAt),
          each.webhookId,
        );
        this.#order.refreshHead(each.clickId);
      }
      return added;
    });
  }

  /** What has changed after that change, at most `limit` rows of each kind: to be called again until `upTo` stays. */
  changesSince(change: number, limit = 10_000): DeliveryChanges {
    return this.database.read(() => {
      const postbacks = this.#changedPostbacks.all(change, limit);
      const attempts = this.#changedAttempts.all(change, limit);
      const lastOf = (rows: typeof postbacks) => Number(rows.at(-1)?.['change'] ?? change);
      // Where one kind was cut off, the other is given no further than that.
      const whole = Math.min(...[postbacks, attempts].filter((rows) => rows.length === limit).map(lastOf));
      const upTo = whole === Infinity ? Math.max(change, Number(this.#lastChange.get()?.['changes'])) : whole;
      const isWithin = (row: { change?: unknown }) => Number(row.change) <= upTo;
      return {
        postbacks: postbacks.filter(isWithin).map(deliveryStateOf),
        attempts: attempts.filter(isWithin).map(attemptRecordOf),
        upTo,
      };
    });
  }

  close(): void {
    this.database.close();
  }

  #add(row: Omit<OutboxRow, 'number'>, nextAttemptAt: Moment): boolean {
    const { changes } = this.#insert.run(
      row.webhookId,
      row.conversionId,
      row.kind,
      row.clickId,
      row.siteKey,
      row.userId,
      row.offerId,
      row.reward,
      row.occurredAt,
      row.enqueuedAt,
      sortKeyOf(row.occurredAt, row.kind),
      millisecondsOf(nextAttemptAt),
      this.database.nextChange(),
    );
    return Number(changes) > 0;
  }
}
