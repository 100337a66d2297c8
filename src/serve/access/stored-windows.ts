import { closeSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { Logger } from 'pino';
import { OfferlineError } from '../../kit/errors/errors.ts';
import { isDiskUnwritable } from '../../kit/errors/machine-failure.ts';
import { makePrivateFolder } from '../../kit/files/effects.ts';
import { SlidingWindows } from '../../kit/http/sliding-windows.ts';
import type { LimitBucket, CountingLimits, LimitStatus } from '../../kit/http/sliding-windows.ts';
import { isSqliteDamage, sqliteTransaction } from '../../kit/sqlite/open-sqlite.ts';

/** Milliseconds between deletions of requests that have left their windows. */
const sweepMilliseconds = 10 * 60_000;

/**
 * Counted requests in a table that outlives the process. A row is written before its answer leaves, so no end of the
 * process loses a count. The disk is not waited for: a loss of power may cost the counts of a window.
 */
export class CountedRequests {
  readonly #folder: string;
  readonly #log: Logger;
  readonly #makeFolder: (path: string) => void;
  #database: { connection: DatabaseSync; insert: StatementSync } | undefined;
  #waiting: [scope: string, bucket: string, at: number, expiresAt: number][] = [];
  #written: Promise<void> | undefined;
  #sweptAt: number;
  #isFailing = false;
  #isClosed = false;

  /**
   * Throws `OfferlineError` where the folder cannot be used, but for a disk that takes nothing more: that must not keep
   * the feeds from opening.
   */
  constructor(folder: string, now: number, log: Logger, makeFolder = makePrivateFolder) {
    this.#folder = folder;
    this.#log = log;
    this.#makeFolder = makeFolder;
    this.#sweptAt = now;
    try {
      this.#open();
      this.#sweep(now);
    } catch (error) {
      if (!isDiskUnwritable(error) && !isUnwritable(error))
        throw new OfferlineError(
          `${folder} cannot be used: ${(error as Error).message}. Rate limits are kept there: make it a folder that can be written to`,
          undefined,
          { cause: error },
        );
      this.#complain(error as Error);
    }
  }

  /** Requests of a scope that are within their windows. */
  remembered(scope: string, now: number): (Pick<LimitBucket, 'name' | 'length'> & { at: number })[] {
    const rows = this.#database?.connection
      .prepare('SELECT bucket, at, expires_at FROM counted_requests WHERE scope = ? AND at <= ? AND expires_at > ?')
      .all(scope, now, now);
    return (rows ?? []).map((row) => {
      const at = Number(row['at']);
      return { name: String(row['bucket']), length: Number(row['expires_at']) - at, at };
    });
  }

  /** Returns when the request is written down, together with all others of this turn of the event loop. */
  add(scope: string, { name, length }: LimitBucket, at: number): Promise<void> {
    this.#waiting.push([scope, name, at, at + length]);
    return (this.#written ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#write();
        resolve();
      });
    }));
  }

  close(): void {
    if (this.#isClosed) return;
    this.#write();
    this.#isClosed = true;
    this.#database?.connection.close();
    this.#database = undefined;
  }

  #open(): { connection: DatabaseSync; insert: StatementSync } {
    if (this.#database !== undefined) return this.#database;
    this.#makeFolder(this.#folder);
    const file = join(this.#folder, 'counted.sqlite');
    // By the system's own error: to SQLite a folder without rights and a full disk look alike.
    closeSync(openSync(file, 'a', 0o600));
    let connection: DatabaseSync;
    try {
      connection = connect(file);
    } catch (error) {
      if (!isSqliteDamage(error)) throw error;
      this.#log.error({ file }, 'counted requests are damaged: removing them; the windows of rate limits begin anew');
      for (const end of ['', '-wal', '-shm']) rmSync(file + end, { force: true });
      connection = connect(file);
    }
    const insert = connection.prepare('INSERT INTO counted_requests VALUES (?, ?, ?, ?)');
    return (this.#database = { connection, insert });
  }

  /** A full disk must not close the feeds: memory goes on counting, which is logged once. */
  #write(): void {
    const rows = this.#waiting;
    this.#waiting = [];
    this.#written = undefined;
    const [, , now] = rows[0] ?? [];
    if (now === undefined) return;
    try {
      if (this.#isClosed) throw new Error('the table is closed');
      const { connection, insert } = this.#open();
      sqliteTransaction(connection, () => {
        for (const row of rows) insert.run(...row);
      });
      if (Math.abs(now - this.#sweptAt) >= sweepMilliseconds) this.#sweep(now);
      this.#isFailing = false;
    } catch (error) {
      this.#complain(error as Error);
    }
  }

  #sweep(now: number): void {
    this.#sweptAt = now;
    this.#database?.connection.prepare('DELETE FROM counted_requests WHERE expires_at <= ?').run(now);
  }

  #complain({ message }: Error): void {
    if (!this.#isFailing)
      this.#log.error(
        { reason: message },
        'counted requests cannot be written down; they are counted in memory, and a restart may forget them',
      );
    this.#isFailing = true;
  }
}

function connect(file: string): DatabaseSync {
  const connection = new DatabaseSync(file);
  try {
    connection.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = OFF;
      CREATE TABLE IF NOT EXISTS counted_requests (
        scope TEXT NOT NULL, bucket TEXT NOT NULL, at INTEGER NOT NULL, expires_at INTEGER NOT NULL
      ) STRICT;
      PRAGMA quick_check;
    `);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** SQLITE_READONLY, SQLITE_IOERR, SQLITE_FULL, SQLITE_CANTOPEN: all that a full disk may look like to SQLite. */
function isUnwritable(error: unknown): boolean {
  // The upper bits hold details of the code.
  return [8, 10, 13, 14].includes(((error as { errcode?: number }).errcode ?? 0) & 0xff);
}

/** Sliding windows that outlive the process: decided in memory, written down before the answer leaves. */
export class StoredWindows implements CountingLimits {
  readonly #windows: SlidingWindows;
  readonly #scope: string;
  readonly #requests: CountedRequests;

  /** `maxWindows`: see `SlidingWindows`. */
  constructor(scope: string, requests: CountedRequests, now: number, bounds?: { maxWindows: number }) {
    this.#scope = scope;
    this.#requests = requests;
    this.#windows = new SlidingWindows(bounds);
    this.#windows.restore(requests.remembered(scope, now));
  }

  async consume(bucket: LimitBucket, now: number): Promise<LimitStatus> {
    const status = this.#windows.consume(bucket, now);
    if (status.allowed) await this.#requests.add(this.#scope, bucket, now);
    return status;
  }

  peek(bucket: LimitBucket, now: number): LimitStatus {
    return this.#windows.peek(bucket, now);
  }

  async count(bucket: LimitBucket, now: number): Promise<void> {
    this.#windows.count(bucket, now);
    await this.#requests.add(this.#scope, bucket, now);
  }
}
