import { posix } from 'node:path';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { mappingForFile, type FileMapping } from '../../kit/intake/mapping/mapping-schema.ts';
import { quoted } from '../../kit/text/sql-text.ts';
import { readAnalytics } from '../snapshot/read-analytics.ts';
import { currentManifest } from '../snapshot/snapshot-store.ts';

/**
 * Returns the glob of the files that a mapping for this one is for: those of its folder, of an export its source's. A
 * file without a folder of its own has the glob for itself, since all logs of the kind are below its folder.
 *
 * @returns undefined where no glob matches its path
 */
export function globFor(path: string): string | undefined {
  const folders = path.split('/').slice(0, -1);
  const glob = folders.length < 2 ? literal(path) : `${literal(folders.join('/'))}/**`;
  return posix.matchesGlob(path, glob) ? glob : undefined;
}

/** Characters by which a glob means others; no sign before them takes their meaning away. */
const special = /[*?[{\\]|(?<=[*?+@!])\(/g;

function literal(path: string): string {
  return path.replaceAll(special, '?');
}

/**
 * Returns a file in our own fields that a further mapping would read by its own: of the tracker, or loaded already.
 *
 * @param but Path in the landing folder of the file that the mapping is made for.
 */
export async function takenOver(
  data: DataDirectory,
  mappings: readonly FileMapping[],
  match: string,
  but: string | undefined,
): Promise<string | undefined> {
  const [kind = ''] = match.split('/', 1);
  const isTaken = (path: string) =>
    path !== but && posix.matchesGlob(path, match) && mappingForFile(mappings, path) === undefined;
  const ofTracker = `${kind}/tracker/2026-01-01/tracker.ndjson`;
  if (kind !== 'offers' && isTaken(ofTracker)) return `${kind}/tracker/`;
  if ((await currentManifest(data)) === undefined) return undefined;
  const loaded = await readAnalytics(data.current, (query) =>
    query<{ path: string }>(
      `SELECT path FROM ingest_files
       WHERE kind = ${quoted(kind)} AND status = 'loaded' AND accepted + duplicates > 0 ORDER BY file_id DESC`,
    ),
  );
  return loaded.find(({ path }) => isTaken(path))?.path;
}
