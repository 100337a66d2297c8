import { createHash, type Hash } from 'node:crypto';
import type { DeliveryDatabase } from './delivery-database.ts';
import { ClickOrder } from './click-order.ts';
import { attemptRecordOf, deliveryStateOf, sortableText, stateColumns } from './delivery-rows.ts';
import type {
  AttemptRecord,
  DeliveryFilter,
  DeliveryState,
  FailedPostbacks,
  SitePostbacks,
  StatePostbacks,
} from './delivery-store.ts';

/** What operators ask of the store. */
export class DeliveryList {
  readonly #database: DeliveryDatabase;

  constructor(database: DeliveryDatabase) {
    this.#database = database;
  }

  find(filter: DeliveryFilter, limit: number, skipped = 0): DeliveryState[] {
    const { where, values } = conditionOf(filter);
    return this.#database
      .prepare(
        `SELECT ${stateColumns} FROM postbacks WHERE ${where} ORDER BY sort_key DESC, sequence DESC LIMIT ? OFFSET ?`,
      )
      .all(...values, limit, skipped)
      .map(deliveryStateOf);
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

  countByState(): StatePostbacks[] {
    const counted = this.#database.prepare(
      'SELECT site_key AS siteKey, state, count(*) AS postbacks FROM postbacks GROUP BY state, site_key ORDER BY site_key, state',
    );
    return counted.all() as unknown as StatePostbacks[];
  }

  countByError(): FailedPostbacks[] {
    const counted = this.#database.prepare(
      `SELECT last_error AS error, last_status AS status, state, count(DISTINCT site_key) AS sites, count(*) AS postbacks FROM postbacks
       WHERE last_error IS NOT NULL AND state <> 'delivered' GROUP BY last_error, last_status, state ORDER BY postbacks DESC, error, status, state`,
    );
    return counted.all() as unknown as FailedPostbacks[];
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

  revive(filter: DeliveryFilter, now: number): number {
    const { where, values } = conditionOf({ ...filter, state: 'dead' });
    const order = new ClickOrder(this.#database);
    const revive = this.#database.prepare(
      `UPDATE postbacks SET state = 'pending', plan_attempts = 0, next_attempt_at = ?, change = ? WHERE sequence = ?`,
    );
    return this.#database.write(() => {
      const dead = this.#database.prepare(`SELECT sequence, click_id FROM postbacks WHERE ${where}`).all(...values);
      for (const { sequence } of dead) revive.run(now, this.#database.nextChange(), sequence as number);
      for (const { click_id } of dead) order.refreshHead(click_id as string);
      return dead.length;
    });
  }

  purgeAttempts(before: number): number {
    return this.#database.write(() =>
      Number(this.#database.prepare('DELETE FROM attempts WHERE started_at < ?').run(before).changes),
    );
  }
}

function conditionOf({ site, state, since, until, ids }: DeliveryFilter): { where: string; values: string[] } {
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
