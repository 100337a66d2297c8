import { existsSync } from 'node:fs';
import type { LandingFile } from '../landing-file.ts';

/** A file that the ledger knows as loaded. */
export interface KnownFile {
  path: string;
  /** The export that decides for its source: the one file that nobody may archive. */
  is_newest_catalog: boolean;
}

/**
 * SQL for the files that a landing folder should have: of the last thirty days, and the newest export of each source.
 * `ingest_files` is the warehouse's or a snapshot's; `now`, an SQL moment.
 */
export function knownFiles(now: string): string {
  return `SELECT path, bool_or(is_newest) AS is_newest_catalog FROM (
      SELECT path, ingested_at, kind = 'offers' AND file_id = max(file_id) OVER (PARTITION BY kind, source) AS is_newest
      FROM ingest_files WHERE status = 'loaded')
    WHERE is_newest OR ingested_at > ${now} - INTERVAL 30 DAY GROUP BY path`;
}

/** Fewer may have been moved away on purpose. */
const nearlyAll = 0.9;

/**
 * Reason why nothing would come in though no file is wrong: the folder is gone, or is none of ours. Undefined where it
 * is as it should be. Files that were archived are no trouble as long as a newest export is there. `found`: what a scan
 * lists.
 */
export function landingTrouble(
  landing: string,
  known: readonly KnownFile[],
  found: readonly Pick<LandingFile, 'path'>[],
): string | undefined {
  if (known.length === 0) return undefined;
  const advice =
    'mount it again, or put right where it leads to; the catalog and the figures stay as they are until then';
  if (!existsSync(landing)) return `${landing} does not exist: ${advice}`;
  const paths = new Set(found.map(({ path }) => path));
  const present = known.filter(({ path }) => paths.has(path));
  if (present.some((file) => file.is_newest_catalog) || present.length > known.length * (1 - nearlyAll))
    return undefined;
  return `${known.length - present.length} of the ${known.length} files that ${landing} should have are not there, each source's newest export among them: ${advice}`;
}
