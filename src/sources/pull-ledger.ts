import type { DatabaseSync } from 'node:sqlite';
import type { DataDirectory } from '../kit/config/data-directory.ts';
import { readLockHolder } from '../kit/files/process-lock.ts';
import type { Moment } from '../kit/time/moment.ts';
import { isSqliteDamage } from '../kit/sqlite/open-sqlite.ts';
import { DamagedPullsError, hasPullDatabase, openPullDatabase } from './pull-database.ts';

/** A pull of a source. */
export interface Pull {
  pull_id: number;
  source: string;
  /** Wall clock, UTC. */
  started_at: Moment;
  finished_at: Moment | null;
  status: 'running' | 'done' | 'failed' | 'interrupted';
  pages: number | null;
  records: number | null;
  /** Landing file that it wrote; null where the last one has the same content, or the pull was not complete. */
  file: string | null;
  /** Records left out on purpose, and oddities: counts by reason, as JSON text. */
  left_out: string | null;
  warnings: string | null;
  /** Conversions that the network listed, lines written of them, and those that wait or were left out, as JSON text. */
  conversions: number | null;
  conversion_lines: number | null;
  conversions_left_out: string | null;
  error: string | null;
}

/** Columns that are set when a pull ends. */
type PullEnd = Pick<Pull, 'status'> & Partial<Omit<Pull, 'pull_id' | 'source' | 'started_at' | 'status'>>;

/** The error of a pull whose process is gone. */
const endedByForce = 'ended by force, without a word';
/** Number of pulls kept, besides each source's last complete one. */
const maxPulls = 10_000;

/**
 * Ledger of all pulls, in an SQLite file beside the warehouse: pulls of several sources write to it at once, and none
 * of them waits for a run.
 */
export class PullLedger implements Disposable {
  readonly #database: DatabaseSync;

  /** Marks running pulls whose processes are gone as interrupted. */
  constructor(data: DataDirectory) {
    this.#database = openPullDatabase(data);
    const running = this.#database.prepare(`SELECT pull_id, source FROM pulls WHERE status = 'running'`).all();
    // A pull has a row only while it holds its source.
    for (const { pull_id, source } of running)
      if (readLockHolder(data.sourceLockFile(source as string)) === undefined)
        this.#database
          .prepare(`UPDATE pulls SET status = 'interrupted', error = ? WHERE pull_id = ? AND status = 'running'`)
          .run(endedByForce, pull_id as number);
  }

  /**
   * Reads the ledger. Undefined where nothing has ever been pulled, and where the file is damaged, for what goes on
   * without it; without `onDamage` it throws `DamagedPullsError` then.
   */
  static read<Result>(
    data: DataDirectory,
    read: (ledger: PullLedger) => Result,
    onDamage: (error: DamagedPullsError) => void = (error) => {
      throw error;
    },
  ): Result | undefined {
    if (!hasPullDatabase(data)) return undefined;
    try {
      using ledger = new PullLedger(data);
      return read(ledger);
    } catch (error) {
      if (error instanceof DamagedPullsError) onDamage(error);
      else if (isSqliteDamage(error)) onDamage(new DamagedPullsError(data.pullLedgerFile, error));
      else throw error;
      return undefined;
    }
  }

  /**
   * Begins a pull and returns its number. The caller holds the source's lock, so an earlier pull that still counts as
   * running has ended by force.
   */
  begin(source: string, startedAt: Moment): number {
    this.#database
      .prepare(`UPDATE pulls SET status = 'interrupted', error = ? WHERE source = ? AND status = 'running'`)
      .run(endedByForce, source);
    this.#database
      .prepare(
        `DELETE FROM pulls WHERE pull_id <= (SELECT max(pull_id) FROM pulls) - ? AND pull_id NOT IN
           (SELECT max(pull_id) FROM pulls WHERE status = 'done' GROUP BY source)`,
      )
      .run(maxPulls);
    const { lastInsertRowid } = this.#database
      .prepare(`INSERT INTO pulls (source, started_at, status) VALUES (?, ?, 'running')`)
      .run(source, startedAt);
    return Number(lastInsertRowid);
  }

  end(pullId: number, finishedAt: Moment, end: PullEnd): void {
    const columns = [
      'status',
      'pages',
      'records',
      'file',
      'left_out',
      'warnings',
      'conversions',
      'conversion_lines',
      'conversions_left_out',
      'error',
    ] as const;
    this.#database
      .prepare(`UPDATE pulls SET finished_at = ?, ${columns.map((name) => `${name} = ?`).join(', ')} WHERE pull_id = ?`)
      .run(finishedAt, ...columns.map((name) => end[name] ?? null), pullId);
  }

  /** Begin of a pull; undefined where the ledger has none of that number. */
  beginOf(pullId: number): Moment | undefined {
    const row = this.#database.prepare('SELECT started_at FROM pulls WHERE pull_id = ?').get(pullId);
    return row?.['started_at'] as Moment | undefined;
  }

  /** Ended pulls after the given one, oldest first, up to the first that is running. */
  endedAfter(pullId: number): Pull[] {
    return this.#database
      .prepare(
        `SELECT * FROM pulls
         WHERE pull_id > ?1 AND pull_id < coalesce((SELECT min(pull_id) FROM pulls WHERE pull_id > ?1 AND status = 'running'), pull_id + 1)
         ORDER BY pull_id LIMIT 1000`,
      )
      .all(pullId) as unknown as Pull[];
  }

  /** Newest pull of each source, and its newest complete one. */
  newest(): Map<string, { last: Pull; whole: Pull | undefined }> {
    const of = (condition: string) =>
      this.#database
        .prepare(
          `SELECT * FROM pulls WHERE pull_id IN (SELECT max(pull_id) FROM pulls ${condition} GROUP BY source) ORDER BY source`,
        )
        .all() as unknown as Pull[];
    const whole = new Map(of(`WHERE status = 'done'`).map((pull) => [pull.source, pull]));
    return new Map(of('').map((last) => [last.source, { last, whole: whole.get(last.source) }]));
  }

  /** Begin of each source's newest pull that came to an end by itself; one that was interrupted is to be caught up. */
  newestEnded(): Map<string, Moment> {
    const rows = this.#database
      .prepare(
        `SELECT source, started_at FROM pulls
         WHERE pull_id IN (SELECT max(pull_id) FROM pulls WHERE status IN ('done', 'failed') GROUP BY source)`,
      )
      .all() as unknown as Pick<Pull, 'source' | 'started_at'>[];
    return new Map(rows.map(({ source, started_at }) => [source, started_at]));
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}
