import { plannedAttempts } from '../../postbacks/rules/retry-plan.ts';
import {
  attemptRecordOf,
  millisecondsOf,
  stateColumns,
  type DeliveryState,
  type OutboxRow,
} from '../../postbacks/store/delivery-rows.ts';
import type { DeliveryChanges, OutboxImport, SyncStore } from '../../postbacks/store/sync-store.ts';
import { refreshHeads } from './click-heads.ts';
import { newPostback, newPostbackColumns, stateOf } from './rows.ts';
import type { ChangeNumbers, PostgresRow, PostgresSession } from './session.ts';

const insert = `
  INSERT INTO postbacks (webhook_id, conversion_id, kind, click_id, site_key, user_id, offer_id, reward, occurred_at,
    enqueued_at, further, sort_key, next_attempt_at, change)
  SELECT webhook_id, conversion_id, kind, click_id, site_key, user_id, offer_id, reward, occurred_at, enqueued_at, further,
    sort_key, next_attempt_at, $2 + place
  FROM ROWS FROM (json_to_recordset($1) AS (${newPostbackColumns})) WITH ORDINALITY AS given (webhook_id, conversion_id, kind,
    click_id, site_key, user_id, offer_id, reward, occurred_at, enqueued_at, further, sort_key, next_attempt_at, place)
  ORDER BY place
  ON CONFLICT (webhook_id) DO NOTHING
  RETURNING webhook_id, click_id`;

const restore = `
  UPDATE postbacks SET state = given.state, attempts = given.attempts,
    plan_attempts = least(given.attempts, ${plannedAttempts - 1}), last_attempt_at = given.last_attempt_at,
    last_status = given.last_status, last_error = given.last_error, delivered_at = given.delivered_at,
    next_attempt_at = given.next_attempt_at
  FROM json_to_recordset($1) AS given (webhook_id text, state text, attempts int, last_attempt_at bigint, last_status int,
    last_error text, delivered_at bigint, next_attempt_at bigint)
  WHERE postbacks.webhook_id = given.webhook_id`;

/** Exchange of refreshes with the store in PostgreSQL. */
export class PostgresSync implements Omit<SyncStore, 'storeId' | 'place'> {
  readonly #session: PostgresSession;

  constructor(session: PostgresSession) {
    this.#session = session;
  }

  async importedUpTo(warehouseId: string): Promise<number> {
    const [row] = await this.#session.query('SELECT up_to FROM outbox_offsets WHERE warehouse_id = $1', [warehouseId]);
    return Number(row?.['up_to'] ?? 0);
  }

  async importOutbox(warehouseId: string, rows: Iterable<OutboxRow>): Promise<OutboxImport> {
    const given = [...rows];
    return this.#session.write(async (changes) => {
      const before = changes.last;
      const added = await this.#add(
        given.map((row) => newPostback(row, row.enqueuedAt)),
        changes,
      );
      const upTo = given.reduce((greatest, { number }) => Math.max(greatest, number), 0);
      if (upTo > 0)
        await this.#session.query(
          `INSERT INTO outbox_offsets (warehouse_id, up_to) VALUES ($1, $2)
           ON CONFLICT (warehouse_id) DO UPDATE SET up_to = greatest(outbox_offsets.up_to, excluded.up_to)`,
          [warehouseId, upTo],
        );
      await refreshHeads(
        this.#session,
        added.map(({ click_id }) => click_id as string),
      );
      return { added: added.length, changes: { before, after: changes.last } };
    });
  }

  async restore(states: Iterable<DeliveryState>): Promise<number> {
    const milliseconds = (moment: string | null) => (moment === null ? null : millisecondsOf(moment));
    const given = [...states];
    return this.#session.write(async (changes) => {
      const added = await this.#add(
        given.map((each) => newPostback(each, each.nextAttemptAt ?? each.enqueuedAt)),
        changes,
      );
      const ids = new Set(added.map(({ webhook_id }) => webhook_id));
      const restored = given
        .filter(({ webhookId }) => ids.has(webhookId))
        .map(({ state, ...each }) => {
          const ended = state === 'delivered' || state === 'dead';
          return {
            webhook_id: each.webhookId,
            state: ended ? state : 'pending',
            attempts: each.attempts,
            last_attempt_at: milliseconds(each.lastAttemptAt),
            last_status: each.lastStatus,
            last_error: each.lastError,
            delivered_at: milliseconds(each.deliveredAt),
            next_attempt_at: ended ? null : milliseconds(each.nextAttemptAt ?? each.enqueuedAt),
          };
        });
      await this.#session.query(restore, [JSON.stringify(restored)]);
      await refreshHeads(
        this.#session,
        added.map(({ click_id }) => click_id as string),
      );
      return added.length;
    });
  }

  async changesSince(change: number, limit = 10_000): Promise<DeliveryChanges> {
    return this.#session.read(async () => {
      const postbacks = await this.#session.query(
        `SELECT change, ${stateColumns} FROM postbacks WHERE change > $1 ORDER BY change LIMIT $2`,
        [change, limit],
      );
      const attempts = await this.#session.query(
        `SELECT attempts.change, webhook_id, attempt, started_at, duration_ms, status, error, host
         FROM attempts JOIN postbacks USING (sequence) WHERE attempts.change > $1 ORDER BY attempts.change LIMIT $2`,
        [change, limit],
      );
      const [store] = await this.#session.query('SELECT changes FROM store');
      const lastOf = (rows: PostgresRow[]) => Number(rows.at(-1)?.['change'] ?? change);
      // Where the limit cut one kind off, the other ends at the same change.
      const cuts = [postbacks, attempts].filter((rows) => rows.length === limit).map(lastOf);
      const upTo = cuts.length > 0 ? Math.min(...cuts) : Number(store?.['changes']);
      const isWithin = (row: PostgresRow) => Number(row['change']) <= upTo;
      return {
        postbacks: postbacks.filter(isWithin).map(stateOf),
        attempts: attempts.filter(isWithin).map(attemptRecordOf),
        upTo,
      };
    });
  }

  /** Inserts postbacks. Returns the webhook and click ids of those that the store lacked. */
  async #add(given: object[], changes: ChangeNumbers): Promise<PostgresRow[]> {
    const added = await this.#session.query(insert, [JSON.stringify(given), changes.last]);
    changes.last += given.length;
    return added;
  }
}
