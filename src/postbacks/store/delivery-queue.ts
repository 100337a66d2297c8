import type { StatementSync } from 'node:sqlite';
import type { ConversionKind } from '../../kit/vocabulary/values.ts';
import { ClickOrder } from './click-order.ts';
import type { OpenCircuit } from '../rules/circuit-breaker.ts';
import type { DeliveryDatabase } from './delivery-database.ts';
import type { Row } from './delivery-rows.ts';
import type { ClaimedPostback, FinishedAttempt, PassUpdate } from './queue-store.ts';
import type { Postback } from '../rules/postback.ts';
import { dueLimit, hasOverlongWait, maxWaitsCompared } from '../rules/retry-plan.ts';

/** Operations of a pass on the store. Moments are milliseconds since the epoch. */
export class DeliveryQueue {
  readonly #database: DeliveryDatabase;
  readonly #order: ClickOrder;
  readonly #due: StatementSync;
  readonly #claimed: StatementSync;
  readonly #latest: StatementSync;
  readonly #unfinished: StatementSync;
  readonly #claimable: StatementSync;
  readonly #claim: StatementSync;
  readonly #free: StatementSync;
  readonly #finish: StatementSync;
  readonly #addAttempt: StatementSync;
  readonly #circuits: StatementSync;
  readonly #openCircuit: StatementSync;
  readonly #closeCircuit: StatementSync;

  constructor(database: DeliveryDatabase) {
    this.#database = database;
    this.#order = new ClickOrder(database);
    this.#due = database.prepare(
      `SELECT site_key, count(*) AS due, sum(is_next) AS ready FROM postbacks WHERE state = 'pending' AND next_attempt_at <= ? GROUP BY site_key ORDER BY min(next_attempt_at)`,
    );
    this.#claimed = database.prepare(
      `SELECT site_key, count(*) AS claimed FROM postbacks WHERE state = 'delivering' GROUP BY site_key ORDER BY site_key`,
    );
    // The index of pending ones has the times in it: of the rows themselves only some are read.
    this.#latest = database.prepare(
      `SELECT plan_attempts AS failed, max(next_attempt_at) AS latest FROM (
        SELECT plan_attempts, next_attempt_at FROM postbacks INDEXED BY postbacks_pending WHERE state = 'pending' AND is_next = 1 AND next_attempt_at > ?
        LIMIT ${maxWaitsCompared}) GROUP BY plan_attempts`,
    );
    this.#unfinished = database.prepare(
      `SELECT count(*) AS unfinished FROM postbacks WHERE state IN ('pending', 'delivering')`,
    );
    this.#claimable =
      database.prepare(`SELECT sequence, webhook_id, kind, click_id, site_key, user_id, reward, attempts, plan_attempts, conversion_id, offer_id, further FROM postbacks
      WHERE state = 'pending' AND site_key = ? AND is_next = 1 AND next_attempt_at <= ? ORDER BY next_attempt_at, sequence LIMIT ?`);
    // Being under way is transient and of no interest to the warehouse, so `change` stays.
    this.#claim = database.prepare(`UPDATE postbacks SET state = 'delivering' WHERE sequence = ?`);
    this.#free = database.prepare(`UPDATE postbacks SET state = 'pending' WHERE sequence = ?`);
    this.#finish =
      database.prepare(`UPDATE postbacks SET state = ?, attempts = ?, plan_attempts = ?, last_attempt_at = ?, last_status = ?, last_error = ?,
      delivered_at = ?, next_attempt_at = ?, change = ? WHERE sequence = ?`);
    this.#addAttempt = database.prepare(
      'INSERT INTO attempts (change, sequence, attempt, started_at, duration_ms, status, error, host) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
    );
    this.#circuits = database.prepare('SELECT site_key, openings, paused_until FROM circuit_breakers');
    this.#openCircuit = database.prepare(
      'INSERT OR REPLACE INTO circuit_breakers (site_key, openings, paused_until) VALUES (?, ?, ?)',
    );
    this.#closeCircuit = database.prepare('DELETE FROM circuit_breakers WHERE site_key = ?');
  }

  /** Releases what a killed pass had claimed. Only for the holder of the delivery lock. */
  freeClaimed(): void {
    this.#database.write(() => {
      // The first condition names the index; there are few unfinished ones among all.
      const claimed = this.#database
        .prepare(
          `SELECT sequence, click_id FROM postbacks WHERE state IN ('pending', 'delivering') AND state = 'delivering'`,
        )
        .all();
      for (const { sequence } of claimed) this.#free.run(sequence as number);
      for (const { click_id } of claimed) this.#order.refreshHead(click_id as string);
    });
  }

  /** After the clock has gone back nothing waits longer than its plan would let it. */
  clampDueTimes(now: number): void {
    this.#database.write(() => {
      const waiting = this.#database.prepare(
        `SELECT sequence, plan_attempts, next_attempt_at FROM postbacks WHERE state = 'pending' AND next_attempt_at > ?`,
      );
      const tooFar: [sequence: number, clampedAt: number][] = [];
      for (const { sequence, plan_attempts, next_attempt_at } of waiting.iterate(now)) {
        const { latest, clampedAt } = dueLimit(now, plan_attempts as number);
        if ((next_attempt_at as number) > latest) tooFar.push([sequence as number, clampedAt]);
      }
      const pull = this.#database.prepare('UPDATE postbacks SET next_attempt_at = ?, change = ? WHERE sequence = ?');
      for (const [sequence, clampedAt] of tooFar) pull.run(clampedAt, this.#database.nextChange(), sequence);
    });
  }

  /**
   * Postbacks whose time has come, those that wait for another of their click among them, and how many wait for none;
   * the longest waiting site first.
   */
  due(now: number): { siteKey: string; due: number; ready: number }[] {
    return this.#due
      .all(now)
      .map(({ site_key, due, ready }) => ({ siteKey: site_key as string, due: due as number, ready: ready as number }));
  }

  /** Counts by site what is claimed: by the pass under way, or by one that was killed. */
  claimed(): { siteKey: string; claimed: number }[] {
    return this.#claimed
      .all()
      .map(({ site_key, claimed }) => ({ siteKey: site_key as string, claimed: claimed as number }));
  }

  /** True where `clampDueTimes` has something to do, as far as some due times show. */
  waitsTooLong(now: number): boolean {
    return hasOverlongWait(now, this.#latest.all(now) as { failed: number; latest: number }[]);
  }

  /** Counts what is due, by site, in that order. */
  dueBySite(now: number): Map<string, number> {
    return new Map(this.due(now).map(({ siteKey, due }) => [siteKey, due]));
  }

  /** Counts postbacks that are neither delivered nor dead. */
  unfinished(): number {
    return this.#unfinished.get()?.['unfinished'] as number;
  }

  /** Gives what it claims, in the order of the claims asked for. All of it is on the disk then, or nothing. */
  apply({ finished, unsent, circuits, claims }: PassUpdate): ClaimedPostback[][] {
    return this.#database.write(() => {
      for (const attempt of finished) this.#record(attempt);
      for (const { sequence, postback } of unsent) {
        this.#free.run(sequence);
        this.#order.refreshHead(postback.clickId);
      }
      for (const { siteKey, open } of circuits) {
        if (open === null) this.#closeCircuit.run(siteKey);
        else this.#openCircuit.run(siteKey, open.openings, open.pausedUntil);
      }
      return claims.map(({ siteKey, dueBy, limit }) => {
        const claimed = this.#claimable.all(siteKey, dueBy, limit).map(claimedPostbackOf);
        for (const { sequence } of claimed) this.#claim.run(sequence);
        return claimed;
      });
    });
  }

  openCircuits(): Map<string, OpenCircuit> {
    return new Map(
      this.#circuits
        .all()
        .map(({ site_key, openings, paused_until }) => [
          site_key as string,
          { openings: openings as number, pausedUntil: paused_until as number },
        ]),
    );
  }

  #record({
    sequence,
    clickId,
    attempts,
    planAttempts,
    startedAt,
    outcome,
    state,
    nextAttemptAt,
  }: FinishedAttempt): void {
    const duration = Math.round(outcome.durationMilliseconds);
    const deliveredAt = state === 'delivered' ? startedAt + duration : null;
    this.#finish.run(
      state,
      attempts,
      planAttempts,
      startedAt,
      outcome.status,
      outcome.error,
      deliveredAt,
      nextAttemptAt,
      this.#database.nextChange(),
      sequence,
    );
    this.#addAttempt.run(
      this.#database.nextChange(),
      sequence,
      attempts,
      startedAt,
      duration,
      outcome.status,
      outcome.error,
      outcome.host,
    );
    this.#order.refreshHead(clickId);
  }
}

/** A postback to send, of a row of either store. */
export function claimedPostbackOf(row: Row): ClaimedPostback {
  return {
    sequence: row['sequence'] as number,
    attempts: row['attempts'] as number,
    planAttempts: row['plan_attempts'] as number,
    postback: {
      webhookId: row['webhook_id'] as string,
      event: row['kind'] as ConversionKind,
      siteKey: row['site_key'] as string,
      userId: row['user_id'] as string,
      clickId: row['click_id'] as string,
      reward: row['reward'] as string,
      further: {
        ...(JSON.parse((row['further'] as string | null) ?? '{}') as Postback['further']),
        conversion_id: row['conversion_id'] as string,
        offer_id: String(row['offer_id']),
      },
    },
  };
}
