import { OfferlineError } from '../../kit/errors/errors.ts';
import type { OpenCircuit } from '../../postbacks/rules/circuit-breaker.ts';
import type { DeliveryFilter, ResendOrder, StateCounts } from '../../postbacks/store/query-store.ts';
import type { DeliveryState, OutboxRow } from '../../postbacks/store/delivery-rows.ts';
import type { DeliveryStore } from '../../postbacks/store/delivery-store.ts';
import type { PassStore } from '../../postbacks/store/queue-store.ts';
import { migrate } from './migrations.ts';
import { PostgresSync } from './postgres-sync.ts';
import { PostgresList } from './postgres-list.ts';
import { beginPass, readAbandonedClaims, readDue, waitsTooLong } from './postgres-pass.ts';
import { assertInUse, PostgresSession, type StoreUse } from './session.ts';

/** The store in PostgreSQL, from which several workers deliver at once. */
export class PostgresStore implements DeliveryStore {
  readonly storeId: string;
  readonly session: PostgresSession;
  readonly place: string;
  /** Use of the store as read when it was opened. */
  readonly standing: StoreUse;
  readonly #sync: PostgresSync;
  readonly #list: PostgresList;

  private constructor(session: PostgresSession, storeId: string, standing: StoreUse) {
    this.session = session;
    this.storeId = storeId;
    this.place = `PostgreSQL at ${session.where}`;
    this.standing = standing;
    this.#sync = new PostgresSync(session);
    this.#list = new PostgresList(session);
  }

  /**
   * Makes the tables where there are none. Throws `StoreAwayError` where PostgreSQL does not answer, and
   * `UsageError` where the store is not in use, unless `inUse` is false.
   */
  static async open(address: string, { inUse = true } = {}): Promise<PostgresStore> {
    const session = await PostgresSession.connect(address);
    try {
      await assertUnicode(session);
      await migrate(session);
      const [row] = await session.query('SELECT store_id, standing FROM store');
      const standing = row?.['standing'] as StoreUse;
      if (inUse) assertInUse(standing, session.where);
      return new PostgresStore(session, String(row?.['store_id']), standing);
    } catch (error) {
      await session.close();
      throw error;
    }
  }

  importedUpTo(warehouseId: string) {
    return this.#sync.importedUpTo(warehouseId);
  }
  importOutbox(warehouseId: string, rows: Iterable<OutboxRow>) {
    return this.#sync.importOutbox(warehouseId, rows);
  }
  restore(states: Iterable<DeliveryState>) {
    return this.#sync.restore(states);
  }
  changesSince(change: number, limit?: number) {
    return this.#sync.changesSince(change, limit);
  }

  find(filter: DeliveryFilter, limit: number, skipped?: number) {
    return this.#list.find(filter, limit, skipped);
  }
  count(filter: DeliveryFilter) {
    return this.#list.count(filter);
  }
  countBySite(filter: DeliveryFilter) {
    return this.#list.countBySite(filter);
  }
  async countByState(): Promise<StateCounts> {
    // A later count cannot go on from here: changes of several workers have no common order.
    return { storeId: this.storeId, upTo: 0, states: await this.#list.countByState() };
  }
  countByError() {
    return this.#list.countByError();
  }
  backlog() {
    return this.#list.backlog();
  }
  failingSites(now: number) {
    return this.#list.failingSites(now);
  }
  nextOfClick(clickId: string) {
    return this.#list.nextOfClick(clickId);
  }
  show(id: string) {
    return this.#list.show(id);
  }
  revive(filter: DeliveryFilter, now: number) {
    return this.#list.revive(filter, now);
  }
  resend(order: ResendOrder, now: number) {
    return this.#list.resend(order, now);
  }
  purgeAttempts(before: number) {
    return this.session.change('DELETE FROM attempts WHERE started_at < $1', [before]);
  }

  due(now: number) {
    return readDue(this.session, now);
  }
  abandonedClaims() {
    return readAbandonedClaims(this);
  }
  waitsTooLong(now: number) {
    return waitsTooLong(this.session, now);
  }
  async unfinished() {
    const [row] = await this.session.query(
      `SELECT count(*) AS unfinished FROM postbacks WHERE state IN ('pending', 'delivering')`,
    );
    return row?.['unfinished'] as number;
  }
  async openCircuits(): Promise<Map<string, OpenCircuit>> {
    const rows = await this.session.query('SELECT site_key, openings, paused_until FROM circuit_breakers');
    return new Map(
      rows.map(({ site_key, openings, paused_until }) => [
        site_key as string,
        { openings: openings as number, pausedUntil: paused_until as number },
      ]),
    );
  }
  beginPass(now: number): Promise<PassStore> {
    return beginPass(this, now);
  }

  close(): Promise<void> {
    return this.session.close();
  }
}

async function assertUnicode(session: PostgresSession): Promise<void> {
  const [row] = await session.query('SHOW server_encoding');
  if (row?.['server_encoding'] !== 'UTF8')
    throw new OfferlineError(
      `the database at ${session.where} is encoded in ${String(row?.['server_encoding'])}: make one with ENCODING 'UTF8'`,
    );
}
