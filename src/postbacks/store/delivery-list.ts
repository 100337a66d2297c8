import { createHash, type Hash } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { DeliveryStatus } from '../../kit/vocabulary/values.ts';
import type { DeliveryDatabase } from './delivery-database.ts';
import { ClickOrder } from './click-order.ts';
import {
  attemptRecordOf,
  backlogOf,
  deliveryStateOf,
  failingSiteOf,
  sortableText,
  stateColumns,
  type AttemptRecord,
  type Backlog,
  type DeliveryState,
  type FailingSite,
  type Row,
} from './delivery-rows.ts';
import { isToResend } from '../rules/resend-order.ts';
import type {
  DeliveryFilter,
  FailedPostbacks,
  ResendOrder,
  Resent,
  SitePostbacks,
  StateCounts,
  StatePostbacks,
} from './query-store.ts';
import { compareTexts } from '../../kit/text/compare-texts.ts';

/** Condition behind `WHERE`, and the values of its question marks. */
interface Condition {
  where: string;
  values: string[];
}

/** Number of a site's postbacks up to which a search by site is quicker than sorting all. */
const fewRows = 1_000;

/** Number of postbacks that one transaction revives. */
const revivedAtOnce = 5_000;
/** SQLite looks so often, in milliseconds, whether a file that it waits for is free. */
const waitersLook = 100;

/** Queries of operators. */
export class DeliveryList {
  readonly #database: DeliveryDatabase;

  constructor(database: DeliveryDatabase) {
    this.#database = database;
  }

  find(filter: DeliveryFilter, limit: number, skipped = 0): DeliveryState[] {
    const { state, ...others } = filter;
    const isByState = state !== undefined && Object.values(others).every((value) => value === undefined);
    return this.#database.read(() => {
      const { where, values } =
        isByState && skipped + limit <= fewRows ? this.#newestIn(state, skipped + limit) : conditionOf(filter);
      return this.#database
        .prepare(
          `SELECT ${stateColumns} FROM postbacks WHERE ${where} ORDER BY sort_key DESC, sequence DESC LIMIT ? OFFSET ?`,
        )
        .all(...values, limit, skipped)
        .map(deliveryStateOf);
    });
  }

  /** Names the newest in that state, site by site as the index has them: to sort a million takes most of a second. */
  #newestIn(state: DeliveryStatus, rows: number): Condition {
    const nextSite = this.#database.prepare(
      'SELECT min(site_key) AS site_key FROM postbacks WHERE state = ? AND site_key > ?',
    );
    const ofSite = this.#database.prepare(
      'SELECT sort_key, sequence FROM postbacks WHERE state = ? AND site_key = ? ORDER BY sort_key DESC, sequence DESC LIMIT ?',
    );
    const found: { sort_key: string; sequence: number }[] = [];
    for (let site = ''; ;) {
      const next = nextSite.get(state, site)?.['site_key'];
      if (typeof next !== 'string') break;
      found.push(...(ofSite.all(state, (site = next), rows) as typeof found));
    }
    found.sort((one, other) =>
      one.sort_key === other.sort_key ? other.sequence - one.sequence : one.sort_key < other.sort_key ? 1 : -1,
    );
    const sequences = found.slice(0, rows).map(({ sequence }) => sequence);
    return { where: `sequence IN (${sequences.join(', ')})`, values: [] };
  }

  /** Reads the index of unfinished postbacks alone. */
  backlog(): Backlog {
    const row = this.#database
      .prepare(
        `SELECT count(*) AS postbacks, min(sort_key) AS oldest FROM postbacks WHERE state IN ('pending', 'delivering')`,
      )
      .get();
    return backlogOf(row as Row);
  }

  count(filter: DeliveryFilter): number {
    const { where, values } = conditionOf(filter);
    return this.#database.prepare(`SELECT count(*) AS postbacks FROM postbacks WHERE ${where}`).get(...values)?.[
      'postbacks'
    ] as number;
  }

  countBySite(filter: DeliveryFilter): SitePostbacks[] {
    const { where, values } = conditionOf(filter);
    const sites: { siteKey: string; postbacks: number; digest: Hash }[] = [];
    const rows = this.#database
      .prepare(`SELECT site_key, webhook_id FROM postbacks WHERE ${where} ORDER BY site_key, webhook_id`)
      .iterate(...values);
    for (const { site_key, webhook_id } of rows) {
      const siteKey = site_key as string;
      const last = sites.at(-1);
      const site = last?.siteKey === siteKey ? last : { siteKey, postbacks: 0, digest: createHash('sha256') };
      if (site !== last) sites.push(site);
      site.postbacks += 1;
      site.digest.update(`${webhook_id as string}\n`);
    }
    return sites.map(({ digest, ...site }) => ({ ...site, idsSha256: digest.digest('hex') }));
  }

  /** Delivered ones are nearly all: those of `before` are not counted again, unless some may have been sent again. */
  countByState(before?: Omit<StateCounts, 'storeId'>): Omit<StateCounts, 'storeId'> {
    return this.#database.read(() => {
      const upTo = Number(this.#database.prepare('SELECT changes FROM store').get()?.['changes']);
      // A copy of an earlier time may have been put in the place of the file.
      const known = before !== undefined && before.upTo <= upTo && !this.#hasNewPlans(before.upTo) ? before : undefined;
      const delivered = new Map<string, number>();
      for (const { siteKey, state, postbacks } of known?.states ?? [])
        if (state === 'delivered') delivered.set(siteKey, postbacks);
      const more =
        known === undefined
          ? this.#counts(`state = 'delivered' GROUP BY site_key`)
          : // The sign takes the index of states out of the choice: it would lead through all of them.
            this.#counts(`change > ? AND +state = 'delivered' GROUP BY site_key`, known.upTo);
      for (const { siteKey, postbacks } of more) delivered.set(siteKey, (delivered.get(siteKey) ?? 0) + postbacks);
      const states: StatePostbacks[] = this.#counts(
        `state IN ('pending', 'delivering', 'dead') GROUP BY state, site_key`,
      );
      for (const [siteKey, postbacks] of delivered) states.push({ siteKey, state: 'delivered', postbacks });
      const place = ({ siteKey, state }: StatePostbacks) => `${siteKey}\n${state}`;
      return { upTo, states: states.toSorted((one, other) => compareTexts(place(one), place(other))) };
    });
  }

  /** Whether a change after that one is of a postback whose plan of attempts is not its first. */
  #hasNewPlans(since: number): boolean {
    const found = this.#database.prepare(
      'SELECT 1 FROM postbacks WHERE change > ? AND attempts > plan_attempts LIMIT 1',
    );
    return found.get(since) !== undefined;
  }

  #counts(condition: string, ...values: number[]): StatePostbacks[] {
    return this.#database
      .prepare(`SELECT site_key AS siteKey, state, count(*) AS postbacks FROM postbacks WHERE ${condition}`)
      .all(...values) as unknown as StatePostbacks[];
  }

  countByError(): FailedPostbacks[] {
    const counted = this.#database.prepare(
      `SELECT last_error AS error, last_status AS status, state, count(DISTINCT site_key) AS sites, count(*) AS postbacks FROM postbacks
       WHERE last_error IS NOT NULL AND state <> 'delivered' GROUP BY last_error, last_status, state ORDER BY postbacks DESC, error, status, state`,
    );
    return counted.all() as unknown as FailedPostbacks[];
  }

  failingSites(now: number): FailingSite[] {
    // Of a bare column beside max() SQLite gives the value of the row that has it.
    const failing = this.#database.prepare(
      `SELECT site_key, max(last_attempt_at), last_error, last_status,
         (SELECT min(enqueued_at) FROM postbacks AS first
            WHERE first.last_error IS NOT NULL AND first.state IN ('pending', 'delivering') AND first.site_key = failing.site_key) AS failing_since,
         (SELECT count(*) FROM postbacks AS waiting WHERE waiting.state IN ('pending', 'delivering') AND waiting.site_key = failing.site_key) AS waiting,
         (SELECT max(delivered_at) FROM (SELECT delivered_at FROM postbacks AS taken
            WHERE taken.state = 'delivered' AND taken.site_key = failing.site_key ORDER BY sort_key DESC LIMIT 1000) WHERE delivered_at <= ?) AS last_delivered_at
       FROM postbacks AS failing WHERE last_error IS NOT NULL AND state IN ('pending', 'delivering') GROUP BY site_key ORDER BY site_key`,
    );
    return failing.all(now).map(failingSiteOf);
  }

  nextOfClick(clickId: string): string | undefined {
    const next = this.#database.prepare(
      `SELECT webhook_id FROM postbacks WHERE click_id = ? AND state IN ('pending', 'delivering') ORDER BY is_next DESC LIMIT 1`,
    );
    return next.get(clickId)?.['webhook_id'] as string | undefined;
  }

  show(id: string): { postback: DeliveryState; attempts: AttemptRecord[] }[] {
    const { where, values } = conditionOf({ ids: [id] });
    const attempts = this.#database.prepare(`SELECT webhook_id, attempt, started_at, duration_ms, status, error, host
      FROM attempts JOIN postbacks USING (sequence) WHERE sequence = ? ORDER BY attempt`);
    return this.#database.read(() =>
      this.#database
        .prepare(`SELECT sequence, ${stateColumns} FROM postbacks WHERE ${where} ORDER BY sort_key, sequence`)
        .all(...values)
        .map((row) => ({
          postback: deliveryStateOf(row),
          attempts: attempts.all(row['sequence'] as number).map(attemptRecordOf),
        })),
    );
  }

  /** In several transactions: who waits for the file gives up after ten seconds. */
  async revive(filter: DeliveryFilter, now: number): Promise<number> {
    const state = filter.state ?? 'dead';
    const { where, values } = conditionOf({ ...filter, state });
    const order = new ClickOrder(this.#database);
    // A pass may have changed it since it was found.
    const revive = this.#database.prepare(
      `UPDATE postbacks SET state = 'pending', plan_attempts = 0, next_attempt_at = ?, change = ? WHERE sequence = ? AND state = ?`,
    );
    const found = this.#database
      .prepare(`SELECT sequence, click_id FROM postbacks WHERE ${where} ORDER BY sort_key, sequence`)
      .all(...values);
    if (state === 'pending') this.#database.write(() => this.#endPauses(filter.site));
    let revived = 0;
    for (let from = 0; from < found.length; from += revivedAtOnce) {
      if (from > 0) await setTimeout(waitersLook);
      const rows = found.slice(from, from + revivedAtOnce);
      revived += this.#database.write(() => {
        let changed = 0;
        for (const { sequence } of rows)
          changed += Number(revive.run(now, this.#database.nextChange(), sequence as number, state).changes);
        for (const { click_id } of rows) order.refreshHead(click_id as string);
        return changed;
      });
    }
    return revived;
  }

  resend({ siteKey, webhookId, attempts }: ResendOrder, now: number): Resent | undefined {
    const find = this.#database.prepare(
      `SELECT sequence, ${stateColumns} FROM postbacks WHERE webhook_id = ? AND site_key = ?`,
    );
    const resend = this.#database.prepare(
      `UPDATE postbacks SET state = 'pending', plan_attempts = 0, delivered_at = NULL, next_attempt_at = ?, change = ? WHERE sequence = ?`,
    );
    return this.#database.write(() => {
      const row = find.get(webhookId, siteKey);
      if (row === undefined) return undefined;
      const isNew = isToResend(deliveryStateOf(row), attempts, now);
      if (isNew) {
        resend.run(now, this.#database.nextChange(), row['sequence'] as number);
        this.#endPauses(siteKey);
        new ClickOrder(this.#database).refreshHead(row['click_id'] as string);
      }
      return { postback: deliveryStateOf(find.get(webhookId, siteKey) as Row), isNew };
    });
  }

  #endPauses(site: string | undefined): void {
    if (site === undefined) this.#database.prepare('DELETE FROM circuit_breakers').run();
    else this.#database.prepare('DELETE FROM circuit_breakers WHERE site_key = ?').run(site);
  }

  purgeAttempts(before: number): number {
    return this.#database.write(() =>
      Number(this.#database.prepare('DELETE FROM attempts WHERE started_at < ?').run(before).changes),
    );
  }
}

function conditionOf({ site, state, since, until, ids }: DeliveryFilter): Condition {
  const parts: [condition: string, ...values: string[]][] = [];
  if (site !== undefined) parts.push(['site_key = ?', site]);
  if (state !== undefined) parts.push(['state = ?', state]);
  if (since !== undefined) parts.push(['sort_key >= ?', sortableText(since)]);
  if (until !== undefined) parts.push(['sort_key < ?', sortableText(until)]);
  if (ids !== undefined) {
    const marks = ids.map(() => '?').join(', ');
    parts.push([`(webhook_id IN (${marks}) OR conversion_id IN (${marks}))`, ...ids, ...ids]);
  }
  return {
    where: parts.map(([condition]) => condition).join(' AND ') || 'TRUE',
    values: parts.flatMap(([, ...values]) => values),
  };
}
