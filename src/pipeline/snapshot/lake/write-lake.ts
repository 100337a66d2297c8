import type { DuckDBConnection } from '@duckdb/node-api';
import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataDirectory } from '../../../kit/config/data-directory.ts';
import type { Effects } from '../../../kit/files/effects.ts';
import { noLog, smallBlocks } from '../../../kit/duckdb/attach-options.ts';
import { inMemory, withDuckDB } from '../../../kit/duckdb/open.ts';
import { quoted } from '../../../kit/text/sql-text.ts';
import type { Manifest } from '../manifest.ts';
import { lakeFiles, lakeSnapshots, type LakeFile } from './lake-files.ts';
import { schemaRows, snapshotRows, type LakeRow, type LakeRows } from './lake-rows.ts';
import { lakeTables } from './lake-tables.ts';

/**
 * Writes `published/offerline.ducklake` anew from the manifests of `names`, and puts it in the place of the one
 * before in one step; who reads that goes on with it. Leaves out snapshots that are damaged or of an earlier version;
 * without any it removes the catalog. Call it before a snapshot that the catalog names is removed. `connection` has
 * no transaction open; without it a new one is opened. Throws errors of the disk and of DuckDB, with the old catalog
 * in place.
 */
export async function writeLake(
  data: DataDirectory,
  names: Iterable<string>,
  { files, perform }: Pick<Effects, 'files' | 'perform'>,
  connection?: DuckDBConnection,
): Promise<void> {
  const snapshots = await lakeSnapshots(data, names);
  const next = `${data.lakeFile}.tmp`;
  await files.remove(next, 'lake: leftover removed');
  if (snapshots.length === 0) {
    await files.remove(data.lakeFile, 'lake: removed, there is no snapshot');
    return;
  }
  const lake = { place: `${data.published}/`, snapshots, files: lakeFiles(snapshots) };
  await writeCatalog(data, next, lake, { files, perform }, connection);
  await files.syncFile(next, 'lake: fsynced');
  // DuckLake opened for writing would take our files for its own, and remove those that it needs no more.
  await chmod(next, 0o444);
  await files.rename(next, data.lakeFile, 'lake: renamed');
  await files.syncDirectory(data.published, 'lake: folder synced');
}

interface Lake {
  /** Where its files are: a folder or an address with a separator at its end. */
  place: string;
  /** Oldest first. */
  snapshots: readonly Manifest[];
  files: readonly LakeFile[];
}

/** Writes the catalog of a lake to `path`, where there is none yet. Throws errors of the disk and of DuckDB. */
export async function writeCatalog(
  data: DataDirectory,
  path: string,
  lake: Lake,
  { files, perform }: Pick<Effects, 'files' | 'perform'>,
  connection?: DuckDBConnection,
): Promise<void> {
  const write = async (on: DuckDBConnection) => {
    await files.copyFile(await schemaFile(data, on, { files, perform }), path, 'lake: schema copied');
    try {
      const rows = snapshotRows(lake.place, lake.snapshots, lake.files);
      await perform('lake: written', () => addRows(on, path, rows));
    } catch (error) {
      // A damaged one would fail each publish; the next call makes another.
      await files.remove(data.lakeSchema, 'lake: schema removed').catch(() => undefined);
      throw error;
    }
  };
  await (connection === undefined ? withDuckDB(inMemory, {}, write) : write(connection));
}

/**
 * Returns the file of a catalog that has all but snapshots, made where it is missing: with it a publish takes a third
 * of the time. Its name has the digest of its rows, so that a later version makes another one.
 */
async function schemaFile(
  data: DataDirectory,
  connection: DuckDBConnection,
  { files, perform }: Pick<Effects, 'files' | 'perform'>,
): Promise<string> {
  const rows = schemaRows();
  const path = join(data.lakeSchema, `${hash('sha256', JSON.stringify([lakeTables, rows]))}.duckdb`);
  if (existsSync(path)) return path;
  await files.remove(data.lakeSchema, 'lake: schema before removed');
  await files.makeDirectory(data.lakeSchema);
  await perform('lake: schema written', () => addRows(connection, `${path}.tmp`, rows, lakeTables));
  await files.rename(`${path}.tmp`, path, 'lake: schema renamed');
  return path;
}

/**
 * Adds rows to a catalog, after `tables` to a new one. To find out how such rows are packed best takes longer than to
 * write them.
 */
async function addRows(connection: DuckDBConnection, path: string, rows: LakeRows, tables = ''): Promise<void> {
  const options = tables === '' ? [noLog] : [noLog, smallBlocks, `STORAGE_VERSION 'v1.2.0'`];
  try {
    await connection.run(
      `SET force_compression = 'uncompressed'; ATTACH ${quoted(path)} AS lake (${options.join(', ')})`,
    );
    await connection.run(`BEGIN; ${tables}`);
    for (const [table, some] of Object.entries(rows)) await appendRows(connection, `ducklake_${table}`, some);
    await connection.run('COMMIT; CHECKPOINT lake; DETACH lake');
  } catch (error) {
    for (const statement of ['ROLLBACK', 'DETACH lake']) await connection.run(statement).catch(() => undefined);
    throw error;
  } finally {
    await connection.run('RESET force_compression');
  }
}

/** Adds rows to a table of the catalog, value by value: statements take several times as long. */
async function appendRows(connection: DuckDBConnection, table: string, rows: readonly LakeRow[]): Promise<void> {
  const appender = await connection.createAppender(table, 'main', 'lake');
  for (const row of rows) {
    for (const value of row) {
      if (value === null) appender.appendNull();
      else if (typeof value === 'number') appender.appendBigInt(BigInt(value));
      else if (typeof value === 'boolean') appender.appendBoolean(value);
      else appender.appendVarchar(value);
    }
    appender.endRow();
  }
  appender.closeSync();
}
