import type { Logger } from '../../../kit/logging/log.ts';
import { parseManifest } from '../../../pipeline/snapshot/manifest.ts';
import { contentKey, contentsPrefix, readContent } from '../contents.ts';
import type { ObjectStore } from '../object-store.ts';
import { probePrefix, readPointer, type Content } from '../pointer.ts';
import { catalogKey, catalogNote, readableFiles, readablePrefix, type ReadableFile } from '../readable-names.ts';
import { trackerPrefix } from '../tracker-files.ts';
import { readStateContents } from './sync-state.ts';

/** A reader may still fetch what was named until now, and a writer may be about to name what it has just written. */
const leastAgeMilliseconds = 24 * 3600 * 1000;

export interface Sweep {
  removed: number;
  /** Digests of objects that the pointer leads to and storage lacks, or has only in part: others removed them. */
  missing: Set<string>;
}

/**
 * Removes contents and readable names that the pointer does not lead to any more, a day after they were written at the
 * earliest; names only where the catalog is that of the pointer. Reads the list of all of them: for maintenance, not
 * for every run. Throws `StorageError`.
 */
export async function sweepStorage(store: ObjectStore, logger: Logger, now: number): Promise<Sweep> {
  const kept = await namedObjects(store);
  if (kept === undefined) return { removed: 0, missing: new Set() };
  const missing = new Map([...kept.objects].map(([key, { sha256 }]) => [key, sha256]));
  const litter: string[] = [];
  for (const prefix of [contentsPrefix, trackerPrefix, readablePrefix])
    for await (const { key, modified, bytes } of store.list(prefix)) {
      const content = kept.objects.get(key);
      if (content?.bytes === bytes) missing.delete(key);
      if (content === undefined && key !== catalogKey && now - modified >= leastAgeMilliseconds) litter.push(key);
    }
  for await (const { key, modified } of store.list(probePrefix))
    if (now - modified >= leastAgeMilliseconds) litter.push(key);
  // The list may be as long ago as the removals take: what another writer has come to name meanwhile stays.
  const named = litter.length === 0 ? kept : ((await namedObjects(store)) ?? kept);
  const leaving = litter.filter(
    (key) => !named.objects.has(key) && (named.isInCatalog || !key.startsWith(readablePrefix)),
  );
  for (const key of leaving) await store.remove(key);
  logger.info(
    { storage: store.url, kept: kept.objects.size, removed: leaving.length, missing: missing.size },
    'storage swept',
  );
  return { removed: leaving.length, missing: new Set(missing.values()) };
}

interface NamedObjects {
  /** By key. */
  objects: Map<string, Content>;
  /** The catalog shows the snapshots of the pointer, and no other ones. */
  isInCatalog: boolean;
}

/** Objects that the pointer leads to; undefined where there is none. */
async function namedObjects(store: ObjectStore): Promise<NamedObjects | undefined> {
  const stored = await readPointer(store);
  if (stored === undefined) return undefined;
  const { snapshots, state, tracker } = stored.pointer;
  const named: Content[][] = [];
  const tables: ReadableFile[][] = [];
  for (const { manifest: content, readable } of snapshots) {
    const manifest = parseManifest((await readContent(store, content)).toString());
    named.push([content], Object.values(manifest.files));
    if (readable) tables.push(readableFiles(manifest));
  }
  if (state !== null) {
    const { blocks, files } = await readStateContents(store, state);
    named.push([state], blocks, Object.values(files));
  }
  const ofTracker = Object.values(tracker ?? {});
  const objects = new Map([
    ...named.flat().map((content) => [contentKey(content), content] as const),
    ...ofTracker.map((content) => [contentKey(content, trackerPrefix), content] as const),
    ...tables.flat().map(({ key, content }) => [key, content] as const),
  ]);
  return { objects, isInCatalog: (await store.head(catalogKey))?.note === catalogNote(snapshots) };
}
