import type { StatementSync } from 'node:sqlite';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { plannedAttempts } from '../rules/retry-plan.ts';
import type { Moment } from '../../kit/time/moment.ts';
import { ClickOrder } from './click-order.ts';
import { DeliveryDatabase } from './delivery-database.ts';
import { DeliveryList } from './delivery-list.ts';
import { DeliveryQueue } from './delivery-queue.ts';
import {
  attemptRecordOf,
  deliveryStateOf,
  millisecondsOf,
  stateColumns,
  sortKeyOf,
  type DeliveryState,
  type OutboxRow,
} from './delivery-rows.ts';
import { placeOfFiles, type DeliveryChanges, type OutboxImport } from './sync-store.ts';
import type { DeliveryFilter, ResendOrder, StateCounts } from './query-store.ts';
import type { DeliveryStore } from './delivery-store.ts';
import type { PassStore } from './queue-store.ts';
import { SqlitePass } from './sqlite-pass.ts';

/** The store in a file of this machine. The caller of `beginPass` holds the delivery lock. */
export class SqliteStore implements DeliveryStore {
  readonly storeId: string;
  readonly place = placeOfFiles;
  readonly database: DeliveryDatabase;
  readonly #order: ClickOrder;
  readonly #readOffset: StatementSync;
  readonly #insert: StatementSync;
  readonly #writeOffset: StatementSync;
  readonly #restore: StatementSync;
  readonly #changedPostbacks: StatementSync;
  readonly #changedAttempts: StatementSync;
  readonly #lastChange: StatementSync;
  readonly #list: DeliveryList;
  readonly #queue: DeliveryQueue;

  constructor(database: DeliveryDatabase) {
    this.database = database;
    this.#order = new ClickOrder(database);
    this.storeId = String(database.prepare('SELECT store_id FROM store').get()?.['store_id']);
    this.#readOffset = database.prepare('SELECT up_to FROM outbox_offsets WHERE warehouse_id = ?');
    this.#writeOffset = database.prepare(`INSERT INTO outbox_offsets (warehouse_id, up_to) VALUES (?, ?)
      ON CONFLICT (warehouse_id) DO UPDATE SET up_to = max(up_to, excluded.up_to)`);
    this.#insert = database.prepare(`INSERT INTO postbacks
      (webhook_id, conversion_id, kind, click_id, site_key, user_id, offer_id, reward, occurred_at, enqueued_at, further, sort_key, next_attempt_at, change)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (webhook_id) DO NOTHING`);
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
    this.#list = new DeliveryList(database);
    this.#queue = new DeliveryQueue(database);
  }

  /** Makes the file where there is none. Throws `OfferlineError` where it cannot be used. */
  static open(data: DataDirectory): SqliteStore {
    return new SqliteStore(new DeliveryDatabase(data.deliveriesFile));
  }

  async importedUpTo(warehouseId: string): Promise<number> {
    return Number(this.#readOffset.get(warehouseId)?.['up_to'] ?? 0);
  }

  async importOutbox(warehouseId: string, rows: Iterable<OutboxRow>): Promise<OutboxImport> {
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

  async restore(states: Iterable<DeliveryState>): Promise<number> {
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

  async changesSince(change: number, limit = 10_000): Promise<DeliveryChanges> {
    return this.database.read(() => {
      const postbacks = this.#changedPostbacks.all(change, limit);
      const attempts = this.#changedAttempts.all(change, limit);
      const lastOf = (rows: typeof postbacks) => Number(rows.at(-1)?.['change'] ?? change);
      // Where one kind was cut off, the other is given no further than that.
      const whole = Math.min(...[postbacks, attempts].filter((rows) => rows.length === limit).map(lastOf));
      const upTo = whole === Infinity ? Number(this.#lastChange.get()?.['changes']) : whole;
      const isWithin = (row: { change?: unknown }) => Number(row.change) <= upTo;
      return {
        postbacks: postbacks.filter(isWithin).map(deliveryStateOf),
        attempts: attempts.filter(isWithin).map(attemptRecordOf),
        upTo,
      };
    });
  }

  async find(filter: DeliveryFilter, limit: number, skipped?: number) {
    return this.#list.find(filter, limit, skipped);
  }
  async count(filter: DeliveryFilter) {
    return this.#list.count(filter);
  }
  async countBySite(filter: DeliveryFilter) {
    return this.#list.countBySite(filter);
  }
  async countByState(before?: StateCounts) {
    const { storeId } = this;
    return { storeId, ...this.#list.countByState(before?.storeId === storeId ? before : undefined) };
  }
  async countByError() {
    return this.#list.countByError();
  }
  async backlog() {
    return this.#list.backlog();
  }
  async failingSites(now: number) {
    return this.#list.failingSites(now);
  }
  async nextOfClick(clickId: string) {
    return this.#list.nextOfClick(clickId);
  }
  async show(id: string) {
    return this.#list.show(id);
  }
  async revive(filter: DeliveryFilter, now: number) {
    return this.#list.revive(filter, now);
  }
  async resend(order: ResendOrder, now: number) {
    return this.#list.resend(order, now);
  }
  async purgeAttempts(before: number) {
    return this.#list.purgeAttempts(before);
  }

  async due(now: number) {
    return this.#queue.due(now);
  }
  async abandonedClaims() {
    return this.#queue.claimed();
  }
  async waitsTooLong(now: number) {
    return this.#queue.waitsTooLong(now);
  }
  async unfinished() {
    return this.#queue.unfinished();
  }
  async openCircuits() {
    return this.#queue.openCircuits();
  }

  async beginPass(now: number): Promise<PassStore> {
    this.#queue.freeClaimed();
    this.#queue.clampDueTimes(now);
    const due = this.#queue.dueBySite(now);
    return new SqlitePass(due, this.#queue, this.database.file);
  }

  async close(): Promise<void> {
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
      row.further,
      sortKeyOf(row.occurredAt, row.kind),
      millisecondsOf(nextAttemptAt),
      this.database.nextChange(),
    );
    return Number(changes) > 0;
  }
}
