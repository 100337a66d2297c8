import { lakeTableOf } from '../../pipeline/snapshot/lake/lake-files.ts';
import type { Manifest } from '../../pipeline/snapshot/manifest.ts';
import { contentOf } from './contents.ts';
import type { ObjectStore } from './object-store.ts';
import type { Content, PointedSnapshot } from './pointer.ts';

/** All that analysts read: the files of published tables under names for people, and the lake that names them. */
export const readablePrefix = 'published/';
export const catalogKey = `${readablePrefix}offerline.ducklake`;

/** Returns the address that names are below, with a slash at its end. */
export function readablePlace({ url }: Pick<ObjectStore, 'url'>): string {
  return `${url.replace(/\/$/, '')}/${readablePrefix}`;
}

/** Returns what the catalog of these snapshots has as its note; undefined where none of them is readable. */
export function catalogNote(snapshots: readonly PointedSnapshot[]): string | undefined {
  const shown = snapshots.filter(({ readable }) => readable).map(({ manifest }) => manifest.sha256);
  return shown.length === 0 ? undefined : contentOf(Buffer.from(shown.join(' '))).sha256;
}

/**
 * Returns the name of a table's file below the prefix: its path in the snapshot, and a part of its digest, so that
 * snapshots that have the same file share the object, and none is ever changed.
 */
export function readableName({ path, sha256 }: { path: string; sha256: string }): string {
  return path.replace(/\.parquet$/, `-${sha256.slice(0, 12)}.parquet`);
}

/** A file of a table, which storage has as a content and under its readable key. */
export interface ReadableFile {
  key: string;
  content: Content;
  /** In the snapshot's folder. */
  path: string;
}

/** Returns the files of a snapshot's tables. */
export function readableFiles({ files }: Pick<Manifest, 'files'>): ReadableFile[] {
  return Object.entries(files)
    .filter(([path]) => lakeTableOf(path) !== undefined)
    .map(([path, { sha256, bytes }]) => ({
      key: readablePrefix + readableName({ path, sha256 }),
      content: { sha256, bytes },
      path,
    }));
}
