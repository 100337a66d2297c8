import type { DuckDBConnection } from '@duckdb/node-api';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileEffects } from '../../../kit/files/effects.ts';
import { sha256Of } from '../../../kit/files/read-through.ts';
import { severalAtOnce } from '../../../kit/files/several-at-once.ts';
import { quoted } from '../../../kit/text/sql-text.ts';
import { tableFile, type Manifest } from '../manifest.ts';
import { analyticsTables } from './published-tables.ts';

type TableName = (typeof analyticsTables)[number];

/** The one table whose file macros read: DuckDB opens it when it stores them. */
const readByMacros: TableName = 'offers';

/** Writes the table that macros read as a Parquet file, within the transaction that makes it. */
export function writeTableOfMacros(connection: DuckDBConnection, folder: string): Promise<void> {
  return writeTable(connection, folder, readByMacros);
}

/**
 * Writes all other tables of `analytics.duckdb`, attached as `snapshot`, as a Parquet file each. Forces the files of
 * all to the disk and returns what the manifest says of them. `rows` are those of each table.
 */
export async function writeTableFiles(
  connection: DuckDBConnection,
  folder: string,
  rows: Readonly<Record<string, number>>,
  files: FileEffects,
): Promise<Manifest['files']> {
  for (const name of analyticsTables) if (name !== readByMacros) await writeTable(connection, folder, name);
  const names = analyticsTables.map(tableFile);
  await syncSeveral(folder, names, files);
  const written: Manifest['files'] = {};
  for (const name of analyticsTables)
    written[tableFile(name)] = { ...(await digestOf(join(folder, tableFile(name)))), rows: rows[name] ?? 0 };
  return written;
}

/** At once, so that the file system writes its journal a few times and not for each of them. */
export function syncSeveral(folder: string, names: readonly string[], files: FileEffects): Promise<void> {
  return severalAtOnce(names, (name) => files.syncFile(join(folder, name), `${name}: fsynced`));
}

/** Returns what a manifest says of a file that was just written. */
export async function digestOf(path: string): Promise<{ sha256: string; bytes: number }> {
  return { sha256: await sha256Of(path), bytes: (await stat(path)).size };
}

async function writeTable(connection: DuckDBConnection, folder: string, name: TableName): Promise<void> {
  const file = quoted(join(folder, tableFile(name)));
  await connection.run(`COPY snapshot.${name} TO ${file} (FORMAT parquet, COMPRESSION zstd)`);
}
