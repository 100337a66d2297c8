import type { DuckDBConnection } from '@duckdb/node-api';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { OfferlineError, StoppedError } from '../../kit/errors/errors.ts';
import { literalPath, quotedList } from '../../kit/text/sql-text.ts';
import { analyticsFile } from '../snapshot/manifest.ts';
import { openAnalytics } from '../snapshot/movable-files.ts';
import { thisMachine } from '../../kit/duckdb/duckdb-options.ts';
import { isInterruption, untilInterrupted } from '../../kit/duckdb/interruption.ts';
import type { OpenDuckDB } from '../../kit/duckdb/open.ts';
import { ownSpillFolder, sweepSpills } from '../../kit/duckdb/spill-folder.ts';
import type { KeptSnapshot } from './kept-snapshots.ts';

/** A query gets this part of the memory, since a run on the same machine may take half; DuckDB spills the rest. */
const memoryShare = 4;

interface SnapshotDatabaseOptions {
  writable?: readonly string[];
  stop?: AbortSignal | undefined;
  duckdb?: Readonly<Record<string, string>> | undefined;
}

/**
 * Opens a snapshot's `analytics.duckdb` for people's queries: read-only, with access to the snapshot's own files and
 * those of `writable`, and with locked settings. The open file keeps the snapshot from being retired. When `stop` is
 * aborted, interrupts the statement and throws `StoppedError`. `duckdb`: options in place of its own limits.
 */
export async function withSnapshotDatabase<Answer>(
  { folder }: Pick<KeptSnapshot, 'folder'>,
  work: (connection: DuckDBConnection) => Promise<Answer>,
  { writable = [], stop, duckdb = {} }: SnapshotDatabaseOptions = {},
): Promise<Answer> {
  sweepSpills();
  const spill = ownSpillFolder();
  mkdirSync(spill, { mode: 0o700 });
  const removeSpill = () => rmSync(spill, { recursive: true, force: true });
  // Covers a process that ends in between, as when nobody reads its output any more.
  process.once('exit', removeSpill);
  try {
    const memory_limit = `${Math.floor(thisMachine().memory / memoryShare / 2 ** 20)}MiB`;
    const database = await openSnapshotDatabase(folder, { memory_limit, ...duckdb, temp_directory: spill }, writable);
    try {
      return await untilInterrupted(database.connection, stop, () => work(database.connection), 0);
    } catch (error) {
      if (isInterruption(error)) throw new StoppedError('the query was asked to end before it had its answer');
      throw error;
    } finally {
      database.close();
    }
  } finally {
    process.off('exit', removeSpill);
    removeSpill();
  }
}

/**
 * Opens the database as `withSnapshotDatabase` does; the caller closes it. `options` are DuckDB's. Throws
 * `OfferlineError`.
 */
export async function openSnapshotDatabase(
  folder: string,
  options: Readonly<Record<string, string>>,
  writable: readonly string[] = [],
): Promise<OpenDuckDB> {
  const database = await open(folder, options);
  try {
    const { connection } = database;
    await connection.run('SET enable_progress_bar = true; SET enable_progress_bar_print = false');
    // Files of a snapshot never change, and reading sixty footers takes half of a short query.
    await connection.run('SET parquet_metadata_cache = true');
    // DuckDB compares paths as the views write them, before it knows whether they are patterns.
    const allowed = [folder, literalPath(folder)].map((path) => join(path, '/'));
    await connection.run(
      `SET allowed_directories = ${quotedList(allowed)}; SET allowed_paths = ${quotedList(writable)}`,
    );
    await connection.run('SET enable_external_access = false; SET lock_configuration = true');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

async function open(folder: string, options: Readonly<Record<string, string>>): Promise<OpenDuckDB> {
  const file = join(folder, analyticsFile);
  try {
    return await openAnalytics(folder, options);
  } catch (error) {
    throw new OfferlineError(`${file} cannot be opened: ${(error as Error).message}`, undefined, { cause: error });
  }
}
