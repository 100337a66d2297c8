import type { DuckDBConnection } from '@duckdb/node-api';
import { chmod } from 'node:fs/promises';
import type { DataDirectory } from '../../../kit/config/data-directory.ts';
import type { Effects } from '../../../kit/files/effects.ts';
import { inMemory, withDuckDB } from '../../../kit/duckdb/open.ts';
import { quoted } from '../../../kit/text/sql-text.ts';
import { lakeSnapshots } from './lake-files.ts';
import { lakeRows, type LakeRow } from './lake-rows.ts';
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
  const rows = lakeRows(`${data.published}/`, snapshots);
  const write = (on: DuckDBConnection) => perform('lake: written', () => writeCatalog(on, next, rows));
  await (connection === undefined ? withDuckDB(inMemory, {}, write) : write(connection));
  await files.syncFile(next, 'lake: fsynced');
  // DuckLake opened for writing would take our files for its own, and remove those that it needs no more.
  await chmod(next, 0o444);
  await files.rename(next, data.lakeFile, 'lake: renamed');
  await files.syncDirectory(data.published, 'lake: folder synced');
}

/**
 * Writes a catalog to a new file. In small blocks, since at their usual size nearly all of the file would be empty.
 * To find out how such rows are packed best takes longer than to write them, and nobody recovers half a catalog.
 */
async function writeCatalog(
  connection: DuckDBConnection,
  path: string,
  rows: Readonly<Record<string, readonly LakeRow[]>>,
): Promise<void> {
  try {
    await connection.run(
      `SET force_compression = 'uncompressed'; ATTACH ${quoted(path)} AS lake (BLOCK_SIZE 16384, RECOVERY_MODE no_wal_writes)`,
    );
    await connection.run(`BEGIN; ${lakeTables}`);
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
