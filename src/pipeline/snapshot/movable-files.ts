import { realpath } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { openDuckDB, readOnly, type OpenDuckDB } from '../../kit/duckdb/open.ts';
import { ownSpillFolder } from '../../kit/duckdb/spill-folder.ts';
import { literalPath, quoted, quotedPath } from '../../kit/text/sql-text.ts';
import { analyticsFile } from './manifest.ts';

/** Session variable with the folder of a snapshot that is not where it was published: a copy, or a moved one. */
const folderVariable = 'offerline';

/**
 * Writes files of a snapshot's folder as a SQL list that is evaluated when it is read: below the folder that the
 * variable names, else below the one where the snapshot was published.
 */
export function movableFiles(folder: string, paths: readonly string[]): string {
  const place = `coalesce(getvariable('${folderVariable}'), ${quotedPath(folder)})`;
  return `[${paths.map((path) => `${place} || ${quotedPath(`/${relative(folder, path).replaceAll(sep, '/')}`)}`).join(', ')}]`;
}

/**
 * Opens a snapshot's `analytics.duckdb` read-only, wherever its folder is now; `options` are DuckDB's. By itself DuckDB
 * would spill beside the file, into the published folder.
 */
export async function openAnalytics(
  folder: string,
  options: Readonly<Record<string, string>> = {},
): Promise<OpenDuckDB> {
  // `current` may lead to the next snapshot before the first table of this one is read.
  const place = await realpath(folder);
  const isHere = `SET VARIABLE ${folderVariable} = ${quoted(literalPath(place))}`;
  return openDuckDB(join(place, analyticsFile), { ...readOnly, temp_directory: ownSpillFolder(), ...options }, isHere);
}
