import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { packageFile } from '../../kit/files/package-files.ts';
import { OfferlineError } from '../../kit/errors/errors.ts';
import { machineFailure } from '../../kit/errors/machine-failure.ts';
import { migrateSqlite } from '../../kit/sqlite/migrate-sqlite.ts';
import { isSqliteDamage, openSqlite, sqliteTransaction } from '../../kit/sqlite/open-sqlite.ts';

const cacheKibibytes = 16_384;
/** Number of pages of 4 KiB. */
const checkpointPages = 8000;

export const deliveryMigrations = packageFile('sql/delivery');

/** The file is there and is not what was written. */
export class DamagedDeliveriesError extends OfferlineError {}

/** True for a damaged delivery store. */
export function isDamagedDeliveries(error: unknown): boolean {
  return error instanceof DamagedDeliveriesError || isSqliteDamage(error);
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
      this.#database = open(file, migrations);
      this.#readChanges = this.#database.prepare('SELECT changes FROM store');
      this.#writeChanges = this.#database.prepare('UPDATE store SET changes = ?');
    } catch (error) {
      if (error instanceof OfferlineError) throw error;
      if (isDamagedDeliveries(error)) {
        throw new DamagedDeliveriesError(
          `${file} is damaged: ${(error as Error).message}. \`offerline run refresh\` puts it aside and makes a new one from what the warehouse knows`,
          undefined,
          { cause: error },
        );
      }
      throw (
        machineFailure(error) ??
        new OfferlineError(
          `${file} cannot be used: ${(error as Error).message}. It holds which postbacks were delivered: make its folder writable, with some room on its disk, or bring the file back from a backup`,
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

  #transaction<Result>(begin: 'BEGIN' | 'BEGIN IMMEDIATE', work: () => Result): Result {
    try {
      return sqliteTransaction(this.#database, work, begin);
    } catch (error) {
      // Opening reads little of it: most damage shows at work, where a refresh may never meet it.
      if (!isSqliteDamage(error)) throw error;
      throw new DamagedDeliveriesError(
        `${this.file} is damaged: ${(error as Error).message}. \`offerline doctor --deep --repair\` puts it aside, and the next run makes a new one from what the warehouse knows`,
        undefined,
        { cause: error },
      );
    } finally {
      this.#changes = undefined;
    }
  }
}

function open(file: string, migrations: string): DatabaseSync {
  const database = openSqlite(file);
  try {
    // Measured over 100,000 due: the cache and rarer checkpoints save a quarter of the time in the store.
    database.exec(`PRAGMA cache_size = -${cacheKibibytes}; PRAGMA wal_autocheckpoint = ${checkpointPages};`);
    migrateSqlite(database, file, migrations);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
