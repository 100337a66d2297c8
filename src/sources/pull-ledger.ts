import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { DataDirectory } from '../kit/config/data-directory.ts';
import { makePrivateFolder } from '../kit/files/effects.ts';
import { readLockHolder } from '../kit/files/process-lock.ts';
import type { Moment } from '../kit/time/moment.ts';

/** One pull of one source. */
export interface Pull {
  pull_id: number;
  source: string;
  /** Wall clock, UTC. */
  started_at: Moment;
  finished_at: Moment | null;
  status: 'running' | 'done' | 'failed' | 'interrupted';
  pages: number | null;
  records: number | null;
  /** The landing file that it wrote; null where the last one holds the same, or it was not whole. */
  file: string | null;
  /** Records left out on purpose, and oddities, by reason, as JSON text. */
  left_out: string | null;
  warnings: string | null;
  /**
   * Conversions that the network listed, lines written of them, and those that wait or were left out, as JSON text.
   */
  conversions: number | null;
  conversion_lines: number | null;
  conversions_left_out: string | null;
  error: string | null;
}

/** The pull's columns that its end decides. */
export type PullEnd = Pick<Pull, 'status'> & Partial<Omit<Pull, 'pull_id' | 'source' | 'started_at' | 'status'>>;

/** What is said of a pull whose process is gone. */
const endedByForce = 'ended by force, without a word';
/** Older ones are forgotten, but for each source's last whole one. */
const keptPulls = 10_000;

const schema = `CREATE TABLE IF NOT EXISTS pulls (
  pull_id INTEGER PRIMARY KEY,
  source TEXT NOT NULL,
  started_at TEXT NOT NULL,
  finished_at TEXT,
  status TEXT NOT NULL,
  pages INTEGER,
  records INTEGER,
  file TEXT,
  left_out TEXT,
  warnings TEXT,
  conversions INTEGER,
  conversion_lines INTEGER,
  conversions_left_out TEXT,
  error TEXT
) STRICT;
CREATE INDEX IF NOT EXISTS pulls_by_source ON pulls (source, status, pull_id);`;

/**
 * What became of each pull, in an SQLite file beside the warehouse: pulls of several sources write to it at once, and
 * none of them waits for a run.
 */
export class PullLedger implements Disposable {
  readonly #database: DatabaseSync;

  /** Pulls that are said to run, and whose processes are gone, are interrupted from now on. */
  constructor(data: DataDirectory) {
    makePrivateFolder(dirname(data.pullLedgerFile));
    this.#database = new DatabaseSync(data.pullLedgerFile, { timeout: 10_000 });
    this.#database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; ${schema}`);
    const running = this.#database.prepare(`SELECT pull_id, source FROM pulls WHERE status = 'running'`).all();
    // A pull has a row only while it holds its source.
    for (const { pull_id, source } of running)
      if (readLockHolder(data.sourceLockFile(source as string)) === undefined)
        this.#database
          .prepare(`UPDATE pulls SET status = 'interrupted', error = ? WHERE pull_id = ? AND status = 'running'`)
          .run(endedByForce, pull_id as number);
  }

  /** For those who only ask; undefined where nothing has ever been pulled. */
  static existing(data: DataDirectory): PullLedger | undefined {
    return existsSync(data.pullLedgerFile) ? new PullLedger(data) : undefined;
  }

  /**
   * Begins a pull and gives its number. Whoever calls it holds the source's lock, so an earlier one that is still said
   * to run has ended by force.
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
      .run(keptPulls);
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

  /** Pulls after that one that have ended, oldest first, up to the first that has not. */
  endedAfter(pullId: number): Pull[] {
    return this.#database
      .prepare(
        `SELECT * FROM pulls
         WHERE pull_id > ?1 AND pull_id < coalesce((SELECT min(pull_id) FROM pulls WHERE pull_id > ?1 AND status = 'running'), pull_id + 1)
         ORDER BY pull_id LIMIT 1000`,
      )
      .all(pullId) as unknown as Pull[];
  }

  /** The newest pull of each source, and its newest whole one. */
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

  [Symbol.dispose](): void {
    this.#database.close();
  }
}
