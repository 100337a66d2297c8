import { mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { StatementSync } from 'node:sqlite';
import type { Logger } from 'pino';
import { OfferlineError } from '../errors/errors.ts';

/** A request that was counted. Moments are milliseconds since the epoch. */
export interface CountedRequest {
  bucket: string;
  at: number;
  expiresAt: number;
}

/** Another service on the same data directory writes for some microseconds at a time. Milliseconds. */
const busyTimeout = 1000;

/** How often expired lines are removed. Milliseconds. */
const forgetEvery = 10_000;
const forgottenAtOnce = 1_000;

/**
 * Counted requests in an SQLite file. What one turn of the event loop counts is written as one row, and its answers wait
 * for that, so no end of the process loses a count. Measured: some 15 µs for one request, 2.5 µs each for ten at once.
 * The disk is not waited for (`synchronous = OFF`): a loss of power may cost the counts of an hour, but waiting
 * was seen to hold up all requests for up to 100 ms.
 */
export class RateLimitJournal {
  readonly #database: DatabaseSync;
  readonly #log: Logger;
  readonly #insert: StatementSync;
  readonly #select: StatementSync;
  readonly #delete: StatementSync;
  #pending: CountedRequest[] = [];
  #written: Promise<void> | undefined;
  #forgotAt = Number.NEGATIVE_INFINITY;
  #failing = false;

  /** Throws `OfferlineError` where the file cannot be used. */
  constructor(file: string, table: 'site_requests' | 'address_requests', log: Logger) {
    this.#log = log;
    try {
      this.#database = openWhole(file, log);
      this.#database.exec(`CREATE TABLE IF NOT EXISTS ${table}_by_turn (requests TEXT NOT NULL, expires_at INTEGER NOT NULL) STRICT`);
      this.#insert = this.#database.prepare(`INSERT INTO ${table}_by_turn (requests, expires_at) VALUES (?, ?)`);
      this.#select = this.#database.prepare(`
        SELECT request.value ->> 0 AS bucket, request.value ->> 1 AS at, request.value ->> 2 AS expires_at
        FROM ${table}_by_turn AS turn, json_each(turn.requests) AS request
        WHERE turn.expires_at > ? AND request.value ->> 2 > ? AND request.value ->> 1 <= ?
        ORDER BY 2, turn.rowid, request.id`);
      // Rows expire in the order in which they came: no index is needed, and each row is written at half the cost.
      this.#delete = this.#database.prepare(`
        DELETE FROM ${table}_by_turn
        WHERE rowid IN (SELECT rowid FROM ${table}_by_turn ORDER BY rowid LIMIT ${forgottenAtOnce}) AND expires_at <= ?`);
    } catch (error) {
      throw new OfferlineError(`${file} cannot be used: ${(error as Error).message}. Make its folder writable, or remove the file: rate limits then count from zero`, undefined, { cause: error });
    }
  }

  /** Those that have not expired, oldest first. */
  *remembered(now: number): Iterable<CountedRequest> {
    for (const { bucket, at, expires_at } of this.#select.iterate(now, now, now)) yield { bucket: String(bucket), at: Number(at), expiresAt: Number(expires_at) };
  }

  /** Returns when the request is written down. */
  counted(request: CountedRequest): Promise<void> {
    this.#pending.push(request);
    return (this.#written ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#write();
        resolve();
      });
    }));
  }

  close(): void {
    if (!this.#database.isOpen) return;
    this.#write();
    this.#database.close();
  }

  /** A full disk must not close the feeds: memory goes on counting. Said once until it works again. */
  #write(): void {
    const requests = this.#pending;
    this.#pending = [];
    this.#written = undefined;
    if (requests.length === 0) return;
    try {
      const lastExpiry = requests.reduce((last, { expiresAt }) => Math.max(last, expiresAt), 0);
      this.#insert.run(JSON.stringify(requests.map(({ bucket, at, expiresAt }) => [bucket, at, expiresAt])), lastExpiry);
      this.#forgetExpired(requests.at(-1)?.at ?? this.#forgotAt);
      this.#failing = false;
    } catch (error) {
      if (!this.#failing) this.#log.error({ reason: (error as Error).message }, 'counted requests cannot be written down; until they can, a restart forgets them');
      this.#failing = true;
    }
  }

  #forgetExpired(now: number): void {
    if (Math.abs(now - this.#forgotAt) < forgetEvery) return;
    this.#forgotAt = now;
    while (this.#delete.run(now).changes === forgottenAtOnce);
  }
}

/** Opens the file; one that a loss of power has torn is begun anew, since its counts are gone within the hour anyway. */
function openWhole(file: string, log: Logger): DatabaseSync {
  mkdirSync(dirname(file), { recursive: true });
  let database = new DatabaseSync(file, { timeout: busyTimeout });
  if (!isWhole(database)) {
    database.close();
    log.error({ file }, 'the file of counted requests is damaged and was begun anew: rate limits count from zero');
    for (const ending of ['', '-wal', '-shm']) rmSync(`${file}${ending}`, { force: true });
    database = new DatabaseSync(file, { timeout: busyTimeout });
  }
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;');
  return database;
}

function isWhole(database: DatabaseSync): boolean {
  try {
    return database.prepare('PRAGMA quick_check(1)').get()?.['quick_check'] === 'ok';
  } catch (error) {
    // 11 and 26: torn, and not a database at all. Anything else is not for us to remove a file about.
    if ([11, 26].includes((error as { errcode?: number }).errcode ?? 0)) return false;
    throw error;
  }
}
