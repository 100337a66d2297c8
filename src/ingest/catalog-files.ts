import type { CheckedFile } from '../landing/landing-file.ts';

/** What orders the exports of a source: modification time, then name. */
export type FileAge = Pick<CheckedFile, 'modifiedNs' | 'path'>;

/** Negative where `a` is the older one. */
export function compareAge(a: FileAge, b: FileAge): number {
  if (a.modifiedNs !== b.modifiedNs) return a.modifiedNs < b.modifiedNs ? -1 : 1;
  return a.path < b.path ? -1 : a.path > b.path ? 1 : 0;
}

/** A full source's file that was loaded last, as the ledger has it. */
export type LoadedExport = FileAge & { bytes: number };

/**
 * New files of a full source in the order in which they may decide, newest first, and those that cannot:
 * ones older than the export that decided last, as long as that one still lies there unchanged. What an operator
 * accepted may decide whatever came in meanwhile, such as an empty export that removed nothing.
 */
export function candidates(
  files: readonly CheckedFile[],
  loaded: LoadedExport | undefined,
  landed: readonly LoadedExport[],
  accepted: ReadonlySet<CheckedFile>,
): { newestFirst: CheckedFile[]; outdated: CheckedFile[] } {
  const newestFirst = files.toSorted((a, b) => compareAge(b, a));
  const stands = loaded !== undefined
    && !files.some(({ path }) => path === loaded.path)
    && landed.some(({ path, bytes, modifiedNs }) => path === loaded.path && bytes === loaded.bytes && modifiedNs === loaded.modifiedNs);
  if (!stands) return { newestFirst, outdated: [] };
  const isNewer = (file: CheckedFile) => accepted.has(file) || compareAge(file, loaded) > 0;
  return { newestFirst: newestFirst.filter(isNewer), outdated: newestFirst.filter((file) => !isNewer(file)) };
}
