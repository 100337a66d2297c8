import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { OfferlineError } from '../errors/errors.ts';

/** A refresh and a pass write for some milliseconds at a time; so long one waits for the other. Milliseconds. */
const busyTimeout = 10_000;

const cacheKibibytes = 16_384;
/** Of 4 KiB each. */
const checkpointPages = 8000;

/** Raised when tables change; a store of a later version is not touched. */
const version = 1;

/**
 * `turn` sorts the postbacks of a click by when they occurred, then credit, reject, chargeback. `is_next` marks the one
 * of its click that may be sent: kept up to date rather than computed, so that claiming reads claimable rows only,
 * however many wait behind others. `plan_attempts` counts within the present plan of attempts, which a revival begins
 * anew. `change` is a number that no other row has; whatever ends an attempt or makes a plan anew raises it. Times in
 * integers are milliseconds since the epoch.
 */
const tables = `
  CREATE TABLE store (store_id TEXT NOT NULL, changes INTEGER NOT NULL) STRICT;
  CREATE TABLE taken (warehouse_id TEXT PRIMARY KEY, up_to INTEGER NOT NULL) STRICT;
  CREATE TABLE postbacks (
    sequence INTEGER PRIMARY KEY,
    webhook_id TEXT NOT NULL UNIQUE,
    conversion_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    click_id TEXT NOT NULL,
    site_key TEXT NOT NULL,
    user_id TEXT NOT NULL,
    offer_id INTEGER NOT NULL,
    reward TEXT NOT NULL,
    occurred_at TEXT NOT NULL,
    enqueued_at TEXT NOT NULL,
    turn TEXT NOT NULL,
    is_next INTEGER NOT NULL DEFAULT 0,
    state TEXT NOT NULL DEFAULT 'pending',
    attempts INTEGER NOT NULL DEFAULT 0,
    plan_attempts INTEGER NOT NULL DEFAULT 0,
    last_attempt_at INTEGER,
    last_status INTEGER,
    last_error TEXT,
    delivered_at INTEGER,
    next_attempt_at INTEGER,
    change INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX postbacks_pending ON postbacks (site_key, is_next, next_attempt_at, sequence) WHERE state = 'pending';
  CREATE INDEX postbacks_unfinished_of_click ON postbacks (click_id, turn, conversion_id) WHERE state IN ('pending', 'delivering');
  CREATE INDEX postbacks_by_conversion ON postbacks (conversion_id);
  CREATE INDEX postbacks_by_turn ON postbacks (turn);
  CREATE INDEX postbacks_by_change ON postbacks (change);
  CREATE TABLE attempts (
    change INTEGER PRIMARY KEY,
    sequence INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL,
    status INTEGER,
    error TEXT,
    host TEXT NOT NULL
  ) STRICT;
  CREATE INDEX attempts_by_postback ON attempts (sequence, attempt);
  CREATE TABLE circuit_breakers (
    site_key TEXT PRIMARY KEY,
    openings INTEGER NOT NULL,
    paused_until INTEGER NOT NULL
  ) STRICT;
`;

/** The file is there and is not what was written. */
export class DamagedDeliveriesError extends OfferlineError {}

/** SQLITE_CORRUPT and SQLITE_NOTADB, with whatever more they say in their upper bits. */
export function tellsDamagedDeliveries(error: unknown): boolean {
  return error instanceof DamagedDeliveriesError || [11, 26].includes(((error as { errcode?: number }).errcode ?? 0) & 0xff);
}

/** The connection that the parts of the store share: transactions, and the counter of changes. */
export class DeliveryDatabase {
  readonly file: string;
  readonly #database: DatabaseSync;
  readonly #readChanges: StatementSync;
  readonly #writeChanges: StatementSync;
  #changes: number | undefined;

  /** Throws `OfferlineError` where the file cannot be used. */
  constructor(file: string) {
    this.file = file;
    try {
      this.#database = openOrCreate(file);
      this.#readChanges = this.#database.prepare('SELECT changes FROM store');
      this.#writeChanges = this.#database.prepare('UPDATE store SET changes = ?');
    } catch (error) {
      if (error instanceof OfferlineError) throw error;
      if (tellsDamagedDeliveries(error)) {
        throw new DamagedDeliveriesError(`${file} is damaged: ${(error as Error).message}. \`offerline run refresh\` puts it aside and makes a new one from what the warehouse knows`, undefined, { cause: error });
      }
      throw new OfferlineError(`${file} cannot be used: ${(error as Error).message}. It holds which postbacks were delivered: make its folder writable, or bring the file back from a backup`, undefined, { cause: error });
    }
  }

  prepare(sql: string): StatementSync {
    return this.#database.prepare(sql);
  }

  /** All of it or nothing; on the disk when it returns. */
  write<Result>(work: () => Result): Result {
    return this.#transaction('BEGIN IMMEDIATE', () => {
      const before = Number(this.#readChanges.get()?.['changes']);
      this.#changes = before;
      const result = work();
      if (this.#changes !== before) this.#writeChanges.run(this.#changes);
      return result;
    });
  }

  /** Several reads of one state. */
  read<Result>(work: () => Result): Result {
    return this.#transaction('BEGIN', work);
  }

  /** A number for a row that is written; only within `write`. */
  nextChange(): number {
    if (this.#changes === undefined) throw new Error('a change has its number within a transaction only');
    return ++this.#changes;
  }

  close(): void {
    if (this.#database.isOpen) this.#database.close();
  }

  #transaction<Result>(begin: string, work: () => Result): Result {
    this.#database.exec(begin);
    try {
      const result = work();
      this.#database.exec('COMMIT');
      return result;
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw error;
    } finally {
      this.#changes = undefined;
    }
  }
}

function openOrCreate(file: string): DatabaseSync {
  mkdirSync(dirname(file), { recursive: true });
  const database = new DatabaseSync(file, { timeout: busyTimeout });
  try {
    // FULL: what is recorded as delivered survives a loss of power, so that it is not sent again without need.
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
    // Measured over 100,000 due: the cache and rarer checkpoints save a quarter of the time in the store.
    database.exec(`PRAGMA cache_size = -${cacheKibibytes}; PRAGMA wal_autocheckpoint = ${checkpointPages};`);
    if (versionOf(database) === 0) create(database);
    const found = versionOf(database);
    if (found !== version) throw new OfferlineError(`${file} was written by another version of offerline (${found} instead of ${version}): use that one`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Two processes may open a new store at once: the second one finds it made. */
function create(database: DatabaseSync): void {
  database.exec('BEGIN IMMEDIATE');
  if (versionOf(database) === 0) {
    database.exec(tables);
    database.prepare('INSERT INTO store VALUES (?, 0)').run(randomUUID());
    database.exec(`PRAGMA user_version = ${version}`);
  }
  database.exec('COMMIT');
}

function versionOf(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()?.['user_version']);
}
