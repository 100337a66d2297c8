import type { DeliveryDatabase } from './delivery-database.ts';
import type { DeliveryStatus } from '../../vocabulary/values.ts';
import { ClickOrder } from './click-order.ts';
import {
  type AttemptRecord,
  type DeliveryState,
  attemptRecordOf,
  deliveryStateOf,
  sortableText,
  stateColumns,
} from './delivery-rows.ts';
import type { Moment } from '../../time/moment.ts';

/** Postbacks that meet all of it. */
export interface DeliveryFilter {
  site?: string | undefined;
  state?: DeliveryStatus | undefined;
  /** Those whose event occurred then or later. */
  since?: Moment | undefined;
  /** Those whose event occurred before. */
  until?: Moment | undefined;
  /** Webhook or conversion ids, any of them. */
  ids?: readonly string[] | undefined;
}

/** What operators ask of the store. */
export class DeliveryList {
  readonly #database: DeliveryDatabase;

  constructor(database: DeliveryDatabase) {
    this.#database = database;
  }

  /** The newest events first. */
  find(filter: DeliveryFilter, limit: number): DeliveryState[] {
    const { where, values } = conditionOf(filter);
    return this.#database
      .prepare(`SELECT ${stateColumns} FROM postbacks WHERE ${where} ORDER BY sort_key DESC, sequence DESC LIMIT ?`)
      .all(...values, limit)
      .map(deliveryStateOf);
  }

  count(filter: DeliveryFilter): number {
    const { where, values } = conditionOf(filter);
    return this.#database.prepare(`SELECT count(*) AS postbacks FROM postbacks WHERE ${where}`).get(...values)?.[
      'postbacks'
    ] as number;
  }

  /** The postbacks with that webhook or conversion id in their order, each with its attempts. */
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

  /** Gives dead ones a new plan of attempts that begins at `now`, in milliseconds since the epoch. Returns how many. */
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
