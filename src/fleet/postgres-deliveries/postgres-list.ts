import {
  attemptRecordOf,
  backlogOf,
  failingSiteOf,
  sortableText,
  stateColumns,
  type AttemptRecord,
  type Backlog,
  type DeliveryState,
  type FailingSite,
  type Row,
} from '../../postbacks/store/delivery-rows.ts';
import type {
  DeliveryFilter,
  FailedPostbacks,
  ResendOrder,
  Resent,
  SitePostbacks,
  StatePostbacks,
} from '../../postbacks/store/query-store.ts';
import { isToResend } from '../../postbacks/rules/resend-order.ts';
import { refreshHeads } from './click-heads.ts';
import type { PostgresSession, Value } from './session.ts';
import { stateOf } from './rows.ts';

/** Number of postbacks that one transaction revives. */
const revivedAtOnce = 5_000;

/** Queries of operators. */
export class PostgresList {
  readonly #session: PostgresSession;

  constructor(session: PostgresSession) {
    this.#session = session;
  }

  async find(filter: DeliveryFilter, limit: number, skipped = 0): Promise<DeliveryState[]> {
    const { where, values } = conditionOf(filter);
    const next = values.length + 1;
    const rows = await this.#session.query(
      `SELECT ${stateColumns} FROM postbacks WHERE ${where} ORDER BY sort_key DESC, sequence DESC LIMIT $${next} OFFSET $${next + 1}`,
      [...values, limit, skipped],
    );
    return rows.map(stateOf);
  }

  async count(filter: DeliveryFilter): Promise<number> {
    const { where, values } = conditionOf(filter);
    const [row] = await this.#session.query(`SELECT count(*) AS postbacks FROM postbacks WHERE ${where}`, values);
    return row?.['postbacks'] as number;
  }

  async countBySite(filter: DeliveryFilter): Promise<SitePostbacks[]> {
    const { where, values } = conditionOf(filter);
    const rows = await this.#session.query(
      `SELECT site_key, count(*) AS postbacks, encode(sha256(convert_to(
           string_agg(webhook_id || chr(10), '' ORDER BY webhook_id COLLATE "C"), 'UTF8')), 'hex') AS ids_sha256
       FROM postbacks WHERE ${where} GROUP BY site_key ORDER BY site_key COLLATE "C"`,
      values,
    );
    return rows.map(({ site_key, postbacks, ids_sha256 }) => ({
      siteKey: site_key as string,
      postbacks: postbacks as number,
      idsSha256: ids_sha256 as string,
    }));
  }

  async countByState(): Promise<StatePostbacks[]> {
    const rows = await this.#session.query(
      'SELECT site_key AS "siteKey", state, count(*) AS postbacks FROM postbacks GROUP BY state, site_key ORDER BY site_key, state COLLATE "C"',
    );
    return rows as unknown as StatePostbacks[];
  }

  async countByError(): Promise<FailedPostbacks[]> {
    const rows = await this.#session.query(
      `SELECT last_error AS error, last_status AS status, state, count(DISTINCT site_key) AS sites, count(*) AS postbacks FROM postbacks
       WHERE last_error IS NOT NULL AND state <> 'delivered'
       GROUP BY last_error, last_status, state ORDER BY postbacks DESC, last_error COLLATE "C", last_status NULLS FIRST, state COLLATE "C"`,
    );
    return rows as unknown as FailedPostbacks[];
  }

  async backlog(): Promise<Backlog> {
    const [row] = await this.#session.query(
      `SELECT count(*) AS postbacks, min(sort_key) AS oldest FROM postbacks WHERE state IN ('pending', 'delivering')`,
    );
    return backlogOf(row as Row);
  }

  async failingSites(now: number): Promise<FailingSite[]> {
    const rows = await this.#session.query(
      `SELECT site_key, failing_since, last_error, last_status,
         (SELECT count(*) FROM postbacks AS waiting WHERE waiting.state IN ('pending', 'delivering') AND waiting.site_key = failing.site_key) AS waiting,
         (SELECT max(delivered_at) FROM (SELECT delivered_at FROM postbacks AS taken
            WHERE taken.state = 'delivered' AND taken.site_key = failing.site_key ORDER BY sort_key DESC LIMIT 1000) AS newest WHERE delivered_at <= $1) AS last_delivered_at
       FROM (SELECT DISTINCT ON (site_key) site_key, min(enqueued_at) OVER (PARTITION BY site_key) AS failing_since, last_error, last_status
         FROM postbacks WHERE last_error IS NOT NULL AND state IN ('pending', 'delivering') ORDER BY site_key, last_attempt_at DESC) AS failing
       ORDER BY site_key COLLATE "C"`,
      [now],
    );
    return rows.map(failingSiteOf);
  }

  async nextOfClick(clickId: string): Promise<string | undefined> {
    const [next] = await this.#session.query(
      `SELECT webhook_id FROM postbacks WHERE click_id = $1 AND state IN ('pending', 'delivering') ORDER BY is_next DESC LIMIT 1`,
      [clickId],
    );
    return next?.['webhook_id'] as string | undefined;
  }

  async show(id: string): Promise<{ postback: DeliveryState; attempts: AttemptRecord[] }[]> {
    const { where, values } = conditionOf({ ids: [id] });
    return this.#session.read(async () => {
      const postbacks = await this.#session.query(
        `SELECT ${stateColumns} FROM postbacks WHERE ${where} ORDER BY sort_key, sequence`,
        values,
      );
      const attempts = await this.#session.query(
        `SELECT webhook_id, attempt, started_at, duration_ms, status, error, host
         FROM attempts JOIN postbacks USING (sequence) WHERE ${where} ORDER BY attempt`,
        values,
      );
      const records = Map.groupBy(attempts.map(attemptRecordOf), ({ webhookId }) => webhookId);
      return postbacks.map(stateOf).map((postback) => ({ postback, attempts: records.get(postback.webhookId) ?? [] }));
    });
  }

  /** In several transactions: a pass that waits for the store gives a statement up after twenty seconds. */
  async revive(filter: DeliveryFilter, now: number): Promise<number> {
    const state = filter.state ?? 'dead';
    const { where, values } = conditionOf({ ...filter, state });
    const found = await this.#session.query(`SELECT sequence FROM postbacks WHERE ${where} ORDER BY sequence`, values);
    // A list of none that is of no site is that of all.
    if (state === 'pending')
      await this.#session.write(() =>
        this.#session.query('DELETE FROM circuit_breakers WHERE $1::text IS NULL OR site_key = $1', [
          filter.site ?? null,
        ]),
      );
    let revived = 0;
    for (let from = 0; from < found.length; from += revivedAtOnce) {
      const sequences = found.slice(from, from + revivedAtOnce).map(({ sequence }) => String(sequence));
      revived += await this.#reviveSome(sequences, state, now);
    }
    return revived;
  }

  /** A pass may have changed one since it was found. */
  async #reviveSome(sequences: readonly string[], state: string, now: number): Promise<number> {
    return this.#session.write(async (changes) => {
      const revived = await this.#session.query(
        `WITH chosen AS (
           SELECT sequence, row_number() OVER (ORDER BY sequence) AS place
           FROM postbacks WHERE sequence = ANY($1::bigint[]) AND state = $2)
         UPDATE postbacks SET state = 'pending', plan_attempts = 0, next_attempt_at = $3, change = $4 + place
         FROM chosen WHERE postbacks.sequence = chosen.sequence RETURNING click_id`,
        [sequences, state, now, changes.last],
        'revive',
      );
      changes.last += revived.length;
      await refreshHeads(
        this.#session,
        revived.map(({ click_id }) => click_id as string),
      );
      return revived.length;
    });
  }

  async resend({ siteKey, webhookId, attempts }: ResendOrder, now: number): Promise<Resent | undefined> {
    const find = async () => {
      const [row] = await this.#session.query(
        `SELECT ${stateColumns} FROM postbacks WHERE webhook_id = $1 AND site_key = $2`,
        [webhookId, siteKey],
      );
      return row === undefined ? undefined : stateOf(row);
    };
    return this.#session.write(async (changes) => {
      const found = await find();
      if (found === undefined) return undefined;
      if (!isToResend(found, attempts, now)) return { postback: found, isNew: false };
      changes.last += 1;
      await this.#session.query(
        `UPDATE postbacks SET state = 'pending', plan_attempts = 0, delivered_at = NULL, next_attempt_at = $1, change = $2
         WHERE webhook_id = $3`,
        [now, changes.last, webhookId],
      );
      await this.#session.query('DELETE FROM circuit_breakers WHERE site_key = $1', [siteKey]);
      await refreshHeads(this.#session, [found.clickId]);
      return { postback: (await find()) ?? found, isNew: true };
    });
  }
}

function conditionOf({ site, state, since, until, ids }: DeliveryFilter): { where: string; values: Value[] } {
  const values: Value[] = [];
  const conditions: string[] = [];
  const add = (value: Value, condition: (mark: string) => string) =>
    conditions.push(condition(`$${values.push(value)}`));
  if (site !== undefined) add(site, (mark) => `site_key = ${mark}`);
  if (state !== undefined) add(state, (mark) => `state = ${mark}`);
  if (since !== undefined) add(sortableText(since), (mark) => `sort_key >= ${mark}`);
  if (until !== undefined) add(sortableText(until), (mark) => `sort_key < ${mark}`);
  if (ids !== undefined) add(ids, (mark) => `(webhook_id = ANY(${mark}) OR conversion_id = ANY(${mark}))`);
  return { where: conditions.join(' AND ') || 'TRUE', values };
}
