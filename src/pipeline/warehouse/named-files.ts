import type { DuckDBConnection } from '@duckdb/node-api';
import { readdirSync, type Dirent } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { sha256Of } from '../../kit/files/read-through.ts';
import { kyselyOn } from './kysely.ts';

/** A Parquet file that a committed row names. */
export interface NamedFile {
  table: 'event_files' | 'mart_files' | 'staged_reports';
  /** The kind of events, or the mart. */
  group: string;
  day: string;
  /** Within the warehouse's folder. */
  path: string;
  bytes: number;
  sha256: string;
}

export type FileTrouble = 'missing' | 'size' | 'sha256';

/** Returns all named files, oldest day first. */
export function namedFiles(connection: DuckDBConnection): Promise<NamedFile[]> {
  const db = kyselyOn(connection);
  const about = ['day', 'path', 'bytes', 'sha256'] as const;
  return db
    .selectFrom('event_files')
    .select((each) => [
      each.val<NamedFile['table']>('event_files').as('table'),
      each.cast<string>('kind', 'text').as('group'),
      ...about,
    ])
    .unionAll(
      db
        .selectFrom('mart_files')
        .select((each) => [each.val<NamedFile['table']>('mart_files').as('table'), 'mart as group', ...about]),
    )
    .unionAll(
      db
        .selectFrom('staged_reports')
        .select((each) => [
          each.val<NamedFile['table']>('staged_reports').as('table'),
          each.val('report_daily').as('group'),
          ...about,
        ]),
    )
    .orderBy('day')
    .orderBy('path')
    .execute();
}

/** What helps where bytes of a file that snapshots share are others. */
export const damagedFileCure =
  '`offerline doctor --deep --repair` moves it to put-aside/ and says how its rows come back';

/**
 * Returns the trouble with a file on the disk, if any. `deep` reads its bytes: a flipped one changes neither name nor
 * size.
 */
export async function checkNamedFile(
  path: string,
  expected: Pick<NamedFile, 'bytes' | 'sha256'>,
  deep: boolean,
): Promise<FileTrouble | undefined> {
  const about = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw error;
  });
  if (about === undefined || !about.isFile()) return 'missing';
  if (about.size !== expected.bytes) return 'size';
  return deep && (await sha256Of(path)) !== expected.sha256 ? 'sha256' : undefined;
}

/**
 * Absolute paths of event, mart and key files that no committed row names: a run that was killed, or that failed, left
 * them.
 */
export async function unnamedFiles(connection: DuckDBConnection, data: DataDirectory): Promise<string[]> {
  const keyRuns = await kyselyOn(connection).selectFrom('key_runs').select('path').execute();
  const named = new Set([...(await namedFiles(connection)), ...keyRuns].map(({ path }) => path));
  return [data.events, data.marts, data.keys]
    .flatMap(filesBelow)
    .filter((path) => !named.has(relative(data.warehouse, path)));
}

/** At once: of thousands of folders with a file or two each, waiting for each would take most of the time. */
function filesBelow(folder: string): string[] {
  return entriesOf(folder).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
