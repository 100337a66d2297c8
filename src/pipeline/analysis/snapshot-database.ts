import type { DuckDBConnection } from '@duckdb/node-api';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { OfferlineError, StoppedError } from '../../kit/errors/errors.ts';
import { literalPath, pathOfLiteral, quotedList } from '../../kit/text/sql-text.ts';
import { analyticsFile } from '../snapshot/manifest.ts';
import { queryRows } from '../../kit/duckdb/dialect/rows.ts';
import { thisMachine } from '../../kit/duckdb/duckdb-options.ts';
import { isInterruption, untilInterrupted } from '../../kit/duckdb/interruption.ts';
import { openDuckDB, readOnly, type OpenDuckDB } from '../../kit/duckdb/open.ts';
import type { KeptSnapshot } from './kept-snapshots.ts';

/** A quarter of the memory at most: a run on the same machine may take half. What does not fit is spilled. */
const memoryShare = 4;

/**
 * Opens a snapshot's `analytics.duckdb` for queries of people: read-only, and with no way to any file but the
 * snapshot's own, nor to the settings that say so; and to those of `writable`. Holds the file open, so the snapshot is
 * not retired meanwhile. Once `stop` is aborted the statement is interrupted, and `StoppedError` thrown.
 */
export async function withSnapshotDatabase<Answer>(
  { folder }: Pick<KeptSnapshot, 'folder'>,
  work: (connection: DuckDBConnection) => Promise<Answer>,
  { writable = [], stop }: { writable?: readonly string[]; stop?: AbortSignal | undefined } = {},
): Promise<Answer> {
  sweepSpills();
  // By default DuckDB spills beside the database, which is inside of what was published.
  const spill = mkdtempSync(join(tmpdir(), `${spillPrefix}${process.pid}-`));
  const removeSpill = () => rmSync(spill, { recursive: true, force: true });
  // A process also ends in the middle, where nobody reads the answer on.
  process.once('exit', removeSpill);
  try {
    const memory_limit = `${Math.floor(thisMachine().memory / memoryShare / 2 ** 20)}MiB`;
    const database = await openSnapshotDatabase(folder, { temp_directory: spill, memory_limit }, writable);
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

const spillPrefix = 'offerline-query-';

/** Removes what processes spilled that were killed. */
function sweepSpills(): void {
  for (const name of readdirSync(tmpdir())) {
    const [, owner] = new RegExp(`^${spillPrefix}(\\d+)-`).exec(name) ?? [];
    if (owner === undefined || isAlive(Number(owner))) continue;
    try {
      rmSync(join(tmpdir(), name), { recursive: true, force: true });
    } catch {
      // Another user's.
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/**
 * The same, left open to the caller. `options` are DuckDB's; `temp_directory` is where it may spill to: by default that
 * would be beside the database. Throws `OfferlineError`.
 */
export async function openSnapshotDatabase(
  folder: string,
  options: Readonly<Record<string, string>> & { temp_directory: string },
  writable: readonly string[] = [],
): Promise<OpenDuckDB> {
  const database = await open(folder, options);
  try {
    const { connection } = database;
    const published = await folderOfViews(connection, folder);
    await connection.run('SET enable_progress_bar = true; SET enable_progress_bar_print = false');
    // Files of a snapshot never change, and half of a short query over sixty of them is reading their footers.
    await connection.run('SET parquet_metadata_cache = true');
    // What is read is compared as the views name it, before it is known to be no pattern.
    const allowed = [published, literalPath(published)].map((path) => join(path, '/'));
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
    return await openDuckDB(file, { ...readOnly, ...options });
  } catch (error) {
    throw new OfferlineError(`${file} cannot be opened: ${(error as Error).message}`, undefined, { cause: error });
  }
}

/**
 * Where the views look for their Parquet files: the folder as it was named when the snapshot was published. Throws
 * where it is gone.
 */
async function folderOfViews(connection: DuckDBConnection, folder: string): Promise<string> {
  const [view] = await queryRows<{ sql: string }>(
    connection,
    `SELECT sql FROM duckdb_views() WHERE NOT internal AND sql LIKE '%read_parquet%' LIMIT 1`,
  );
  const [, path] = new RegExp(`'((?:[^']|'')*/${basename(folder)})/`).exec(view?.sql ?? '') ?? [];
  const published = path === undefined ? folder : pathOfLiteral(path.replaceAll("''", "'"));
  if (!existsSync(published)) {
    throw new OfferlineError(
      `snapshot ${folder} was published as ${published}, where it is not any more; move the data directory back, or let \`offerline run refresh\` publish a new one`,
    );
  }
  return published;
}
