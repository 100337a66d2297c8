import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { makePrivateFolder } from '../../kit/files/effects.ts';
import { OfferlineError } from '../../kit/errors/errors.ts';
import { machineFailure } from '../../kit/errors/machine-failure.ts';
import { migrationFiles, type MigrationFile } from '../../kit/files/migration-files.ts';

/** A refresh and a pass write for some milliseconds at a time; so long one waits for the other. Milliseconds. */
const busyTimeoutMilliseconds = 10_000;

const cacheKibibytes = 16_384;
/** Of 4 KiB each. */
const checkpointPages = 8000;

export const deliveryMigrations = fileURLToPath(new URL('../../../sql/delivery', import.meta.url));

/** The file is there and is not what was written. */
export class DamagedDeliveriesError extends OfferlineError {}

/** SQLITE_CORRUPT and SQLITE_NOTADB, with whatever more they say in their upper bits. */
export function tellsDamagedDeliveries(error: unknown): boolean {
  return (
    error instanceof DamagedDeliveriesError || [11, 26].includes(((error as { errcode?: number }).errcode ?? 0) & 0xff)
  );
}

/** The connection that the parts of the store share: transactions, and the counter of changes. */
export class DeliveryDatabase {
  readonly file: string;
  readonly #database: DatabaseSync;
  readonly #readChanges: StatementSync;
  readonly #writeChanges: StatementSync;
  #changes: number | undefined;

  /** Made and migrated as needed. Throws `OfferlineError` where the file cannot be used. */
  constructor(file: string, migrations: string = deliveryMigrations) {
    this.file = file;
    try {
      this.#database = open(file, migrationFiles(migrations));
      this.#readChanges = this.#database.prepare('SELECT changes FROM store');
      this.#writeChanges = this.#database.prepare('UPDATE store SET changes = ?');
    } catch (error) {
      if (error instanceof OfferlineError) throw error;
      if (tellsDamagedDeliveries(error)) {
        throw new DamagedDeliveriesError(
          `${file} is damaged: ${(error as Error).message}. \`offerline run refresh\` puts it aside and makes a new one from what the warehouse knows`,
          undefined,
          { cause: error },
        );
      }
      throw (
        machineFailure(error) ??
        new OfferlineError(
          `${file} cannot be used: ${(error as Error).message}. It holds which postbacks were delivered: make its folder writable, or bring the file back from a backup`,
          undefined,
          { cause: error },
        )
      );
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

  /** The greatest number given so far; only within `write`. */
  lastChange(): number {
    if (this.#changes === undefined) throw new Error('changes are counted within a transaction only');
    return this.#changes;
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

function open(file: string, migrations: readonly MigrationFile[]): DatabaseSync {
  makePrivateFolder(dirname(file));
  const database = new DatabaseSync(file, { timeout: busyTimeoutMilliseconds });
  try {
    // FULL: what is recorded as delivered survives a loss of power, so that it is not sent again without need.
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
    // Measured over 100,000 due: the cache and rarer checkpoints save a quarter of the time in the store.
    database.exec(`PRAGMA cache_size = -${cacheKibibytes}; PRAGMA wal_autocheckpoint = ${checkpointPages};`);
    const newest = migrations.at(-1)?.number ?? 0;
    for (const migration of migrations) if (migration.number > versionOf(database)) migrate(database, file, migration);
    const found = versionOf(database);
    if (found !== newest)
      throw new OfferlineError(
        `${file} was written by another version of offerline (${found} instead of ${newest}): use that one`,
      );
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function migrate(database: DatabaseSync, file: string, { number, name, path }: MigrationFile): void {
  const text = readFileSync(path, 'utf8');
  database.exec('BEGIN IMMEDIATE');
  try {
    // Another process may have opened the same store at once, and have done it.
    if (versionOf(database) < number) database.exec(`${text}; PRAGMA user_version = ${number}`);
    database.exec('COMMIT');
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    if (tellsDamagedDeliveries(error)) throw error;
    throw (
      machineFailure(error) ??
      new OfferlineError(
        `${file} cannot be migrated: ${name}.sql failed and changed nothing: ${(error as Error).message}`,
        undefined,
        { cause: error },
      )
    );
  }
}

/** The number of the last migration that was applied; 0 where the file is new. */
function versionOf(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()?.['user_version']);
}
