import type { DuckDBConnection } from '@duckdb/node-api';
import { readdir, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { DataDirectory } from '../config/data-directory.ts';
import { sha256Of } from '../files/read-through.ts';
import { queriesOn } from './queries-on.ts';

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

/** All of them, oldest day first. */
export function namedFiles(connection: DuckDBConnection): Promise<NamedFile[]> {
  const db = queriesOn(connection);
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

/**
 * What is wrong with a file on the disk, if anything. `deep` reads its bytes: a flipped one changes neither name nor
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
 * Absolute paths of event and mart files that no committed row names: a run that was killed, or that failed, left them.
 */
export async function unnamedFiles(connection: DuckDBConnection, data: DataDirectory): Promise<string[]> {
  const named = new Set((await namedFiles(connection)).map(({ path }) => path));
  const unnamed: string[] = [];
  for (const folder of [data.events, data.marts]) {
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }).catch(noneIfMissing)) {
      const path = join(entry.parentPath, entry.name);
      if (!entry.isDirectory() && !named.has(relative(data.warehouse, path))) unnamed.push(path);
    }
  }
  return unnamed;
}

function noneIfMissing(error: NodeJS.ErrnoException): [] {
  if (error.code === 'ENOENT') return [];
  throw error;
}
