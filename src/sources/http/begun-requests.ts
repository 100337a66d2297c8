import type { DatabaseSync } from 'node:sqlite';
import { sqliteTransaction } from '../../kit/sqlite/open-sqlite.ts';

/** Waits for one page together, pauses included; a pull that would wait longer fails, and the schedule tries again. */
export const maxWaitMilliseconds = 15 * 60_000;

/**
 * Requests that have begun and still count, in the file of the pull ledger, so that processes share a budget. Times are
 * of the steady clock since the machine's start: what is further ahead than it may be was written before that.
 */
export class BegunRequests implements Disposable {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    // A loss of power may take them along: the clock begins anew then.
    database.exec('PRAGMA synchronous = NORMAL');
  }

  /**
   * Counts a request as begun where `requests` of the last `length` milliseconds leave room for it, and returns `now`;
   * else returns when there may be room.
   */
  begin(budget: string, { requests, length, now }: { requests: number; length: number; now: number }): number {
    return sqliteTransaction(this.#database, () => {
      this.#database
        .prepare('DELETE FROM begun_requests WHERE free_at <= ? OR (budget = ? AND free_at > ?)')
        .run(now, budget, now + length);
      const full = this.#database
        .prepare('SELECT free_at FROM begun_requests WHERE budget = ? ORDER BY free_at DESC LIMIT 1 OFFSET ?')
        .get(budget, requests - 1);
      const paused = this.#database
        .prepare('SELECT until FROM paused_budgets WHERE budget = ? AND until <= ?')
        .get(budget, now + maxWaitMilliseconds);
      const until = Math.max(now, Number(full?.['free_at'] ?? now), Number(paused?.['until'] ?? now));
      if (until === now) this.#database.prepare('INSERT INTO begun_requests VALUES (?, ?)').run(budget, now + length);
      return until;
    });
  }

  /** Lets no request begin until then, or a later time that was given before. */
  pause(budget: string, until: number): void {
    this.#database
      .prepare(
        `INSERT INTO paused_budgets VALUES (?1, ?2)
         ON CONFLICT DO UPDATE SET until = CASE WHEN until BETWEEN ?2 AND ?2 + ?3 THEN until ELSE ?2 END`,
      )
      .run(budget, until, maxWaitMilliseconds);
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}
