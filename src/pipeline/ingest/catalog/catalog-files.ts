import { aheadOfClock } from '../../../kit/time/ahead-of-clock.ts';
import { momentOf } from '../../../kit/time/moment.ts';
import type { CheckedFile } from '../../landing/landing-file.ts';

/**
 * The order of a source's exports: modification time, at most the moment when the file was first seen; then name.
 */
export type FileAge = Pick<CheckedFile, 'modifiedNs' | 'path'>;

/**
 * A file as it was first seen at a moment: a modification time after it is a mistake, and would outdo all exports to
 * come until then.
 */
export function firstSeen<File extends FileAge>(file: File, seenNs: bigint): File {
  return file.modifiedNs > seenNs ? { ...file, modifiedNs: seenNs } : file;
}

/** Negative where `a` is the older one. */
export function compareAge(a: FileAge, b: FileAge): number {
  if (a.modifiedNs !== b.modifiedNs) return a.modifiedNs < b.modifiedNs ? -1 : 1;
  return a.path < b.path ? -1 : a.path > b.path ? 1 : 0;
}

/** A full source's file that was loaded last, as the ledger has it. */
export interface LoadedExport {
  path: string;
  sha256: string;
  /** The moment of its ingest, in nanoseconds since the epoch; not before it was first seen. */
  seenNs: bigint;
}

/** A catalog file in the landing folder. */
export type LandedExport = FileAge & Pick<CheckedFile, 'sha256'>;

/**
 * New files of a full source in the order in which they may decide, newest first, and those that cannot:
 * ones older than the export that decided last, as long as that one is still there unchanged. One that was ingested
 * under a clock ahead of `now` outdoes none: its source would stay as it is until then. What an operator accepted may
 * decide whatever came in meanwhile, such as an empty export that removed nothing.
 */
export function candidates(
  files: readonly CheckedFile[],
  loaded: LoadedExport | undefined,
  landed: readonly LandedExport[],
  accepted: ReadonlySet<CheckedFile>,
  now: Date,
): { newestFirst: CheckedFile[]; outdated: CheckedFile[] } {
  const newestFirst = files.toSorted((a, b) => compareAge(b, a));
  const stillThere = files.some(({ path }) => path === loaded?.path)
    ? undefined
    : landed.find(({ path, sha256 }) => path === loaded?.path && sha256 === loaded.sha256);
  const isFromAhead = loaded !== undefined && aheadOfClock(momentOf(loaded.seenNs / 1000n), now.getTime()) > 0;
  if (loaded === undefined || stillThere === undefined || isFromAhead) return { newestFirst, outdated: [] };
  const decided = firstSeen(stillThere, loaded.seenNs);
  const isNewer = (file: CheckedFile) => accepted.has(file) || compareAge(file, decided) > 0;
  return { newestFirst: newestFirst.filter(isNewer), outdated: newestFirst.filter((file) => !isNewer(file)) };
}
