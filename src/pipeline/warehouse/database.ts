import { resolve } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Kysely } from 'kysely';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import type { Settings } from '../../kit/config/settings.ts';
import { makePrivateFolder, realEffects, type Effects } from '../../kit/files/effects.ts';
import { OfferlineError, UsageError, WarehouseBusyError } from '../../kit/errors/errors.ts';
import { machineFailure } from '../../kit/errors/machine-failure.ts';
import { commitTransaction, inTransaction } from '../../kit/duckdb/dialect/transaction.ts';
import { counted } from '../../kit/text/counted.ts';
import { duckdbOptions } from '../../kit/duckdb/duckdb-options.ts';
import { openDuckDB, type OpenDuckDB } from '../../kit/duckdb/open.ts';
import { copyBeforeUpgrade } from './copy-before-upgrade.ts';
import { compareMigrations, migrateState, migrationsFolder } from './migrations.ts';
import { kyselyOn } from './kysely.ts';
import type { Tables } from './tables.ts';

/**
 * The pipeline's own state, open for writing. One connection: raw SQL on `connection` and queries on `db` see
 * each other at once and share a transaction. Statements run one after the other; do not start two at a time.
 */
export interface StateDatabase {
  readonly connection: DuckDBConnection;
  readonly db: Kysely<Tables>;
  /**
   * Opens one more connection, which is closed with the state: for statements that read what is committed, beside those
   * of `connection`.
   */
  connect(): Promise<DuckDBConnection>;
  /** Has the statements under way on all connections end with an error. */
  interrupt(): void;
  /**
   * Runs the work between BEGIN and COMMIT, with `db` and `connection` as they are. Throws, with nothing
   * committed, when the work throws or when a statement of it failed, even if that failure was caught.
   * `step` names the commit for fault tests.
   */
  transaction<T>(work: () => Promise<T>, step?: string): Promise<T>;
  /** Runs a single statement, which commits by itself. `step` names the commit for fault tests. */
  statement<T>(run: () => Promise<T>, step: string): Promise<T>;
  /** Path of the copy that was made before this opening upgraded the state of an older version. */
  readonly copyBeforeUpgrade?: string;
  /** Writes the log into the file and lets go of it. May be called twice. */
  close(): Promise<void>;
}

/**
 * Opening a file twice in one process, or reading it while it is open, silently drops the operating system's
 * lock on it, and then another process gets in. So a second opening is refused here.
 */
const openFiles = new Set<string>();

/** The state is of an older version, and the command changes nothing. */
export class OlderStateError extends UsageError {
  constructor(file: string, migrations: number) {
    super(
      `${file} is of an older version of offerline, ${counted(migrations, 'migration')} behind, and nothing was changed: \`offerline run refresh\` upgrades it, and keeps a copy of it`,
    );
  }
}

/**
 * Opens `state.duckdb`, made and migrated as needed; that of an older version is copied first. The caller holds the
 * writer lock. Throws `OfferlineError` when the file cannot be opened, `NewerDataError` when a newer version wrote it,
 * `WarehouseBusyError` when another program has it open, `OlderStateError` without `upgrade` where an older version
 * wrote it.
 */
export async function openStateDatabase(
  data: DataDirectory,
  settings: Pick<Settings, 'duckdb'>,
  migrations: string = migrationsFolder,
  effects: Effects = realEffects,
  { upgrade = true } = {},
): Promise<StateDatabase> {
  makePrivateFolder(data.warehouse);
  await effects.files.makeDirectory(data.scratch);
  // What a process that ended by force spilled.
  await effects.files.remove(data.spill, 'spill: emptied');
  const options = duckdbOptions(data, settings);
  let opened = await openFile(data.stateFile, options, effects);
  let copy: string | undefined;
  try {
    const { executed, pending } = await compareMigrations(opened.db, data.stateFile, migrations);
    const [next] = pending;
    if (next === undefined) return opened;
    if (executed.length > 0 && !upgrade) throw new OlderStateError(data.stateFile, pending.length);
    if (executed.length > 0) {
      // Reading the open file would lose the lock on it.
      await opened.close();
      copy = await copyBeforeUpgrade(data, next, effects.files);
      opened = await openFile(data.stateFile, options, effects);
    }
    // Replaying schema changes from the log has crashed: they get an opening of their own that ends without a log.
    await effects.perform('state: migrated', () => migrateState(opened.db, migrations));
  } catch (error) {
    await opened.close();
    throw error;
  }
  await opened.close();
  const upgraded = await openFile(data.stateFile, options, effects);
  return copy === undefined ? upgraded : Object.assign(upgraded, { copyBeforeUpgrade: copy });
}

/**
 * FSST makes a table of symbols for each column of text: a millisecond for few texts, and for many, which each append
 * to their table writes again, most of the time of a checkpoint.
 */
export const withoutFsst = `SET disabled_compression_methods = 'fsst'`;

async function openFile(path: string, options: Record<string, string>, effects: Effects): Promise<StateDatabase> {
  const file = resolve(path);
  if (openFiles.has(file)) throw new Error(`${file} is open in this process already; pass that StateDatabase on`);
  openFiles.add(file);
  try {
    const database = await effects.perform('state: opened', () => openDuckDB(file, options));
    const { connection } = database;
    try {
      // First of all: lookups through a key were seen to lose rows after a replayed log, and this heals it.
      await effects.perform('state: checkpointed at opening', () => connection.run('CHECKPOINT'));
      // With the progress bar `connection.progress` reports percentages.
      await connection.run(`SET enable_progress_bar = true; SET enable_progress_bar_print = false; ${withoutFsst}`);
    } catch (error) {
      database.close();
      throw error;
    }
    return new OpenStateDatabase(file, database, effects);
  } catch (error) {
    openFiles.delete(file);
    throw openingFailure(file, error as Error);
  }
}

/**
 * Thrown where the state is not as we wrote it: a block fails its checksum, the log cannot be replayed, or the file is
 * none of DuckDB's.
 */
export class DamagedStateError extends OfferlineError {}

/** Returns whether an error of DuckDB means damage, whatever statement failed. */
export function isDamage({ message }: Error): boolean {
  return /Corrupt database file|does not match stored checksum|Could not read enough bytes|not a valid DuckDB database file|replaying WAL|Corrupt WAL/i.test(
    message,
  );
}

function openingFailure(file: string, error: Error): OfferlineError {
  // Our own processes keep each other out by the writer lock, so this is some other program.
  if (/Could not set lock/.test(error.message))
    return new WarehouseBusyError(`${file} is open in another program; close that and run again. ${error.message}`);
  if (isDamage(error))
    return new DamagedStateError(`${file} is damaged: ${error.message}`, undefined, { cause: error });
  return (
    machineFailure(error) ??
    new OfferlineError(`${file} cannot be opened. ${error.message}`, undefined, { cause: error })
  );
}

class OpenStateDatabase implements StateDatabase {
  readonly connection: DuckDBConnection;
  readonly db: Kysely<Tables>;
  readonly #file: string;
  readonly #database: OpenDuckDB;
  readonly #effects: Effects;
  #closed = false;

  constructor(file: string, database: OpenDuckDB, effects: Effects) {
    this.#file = file;
    this.#database = database;
    this.#effects = effects;
    this.connection = database.connection;
    this.db = kyselyOn(database.connection);
  }

  connect(): Promise<DuckDBConnection> {
    return this.#database.connect();
  }

  interrupt(): void {
    this.#database.interrupt();
  }

  async transaction<T>(work: () => Promise<T>, step = 'transaction'): Promise<T> {
    return inTransaction(this.connection, work, (connection) =>
      this.#effects.perform(`${step}: committed`, () => commitTransaction(connection)),
    );
  }

  async statement<T>(run: () => Promise<T>, step: string): Promise<T> {
    return this.#effects.perform(`${step}: committed`, run);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    try {
      await this.db.destroy();
      await this.#effects.perform('state: checkpointed at closing', () => this.connection.run('CHECKPOINT'));
    } finally {
      this.#database.close();
      openFiles.delete(this.#file);
    }
  }
}
