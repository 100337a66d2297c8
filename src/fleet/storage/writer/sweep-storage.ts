import type { Logger } from '../../../kit/logging/log.ts';
import { parseManifest } from '../../../pipeline/snapshot/manifest.ts';
import { contentKey, contentsPrefix, readContent } from '../contents.ts';
import type { ObjectStore } from '../object-store.ts';
import { probePrefix, readPointer, type Content } from '../pointer.ts';
import { trackerPrefix } from '../tracker-files.ts';
import { readStateContents } from './sync-state.ts';

/** A reader may still fetch what was named until now, and a writer may be about to name what it has just written. */
const leastAgeMilliseconds = 24 * 3600 * 1000;

export interface Sweep {
  removed: number;
  /** Objects that the pointer leads to and storage lacks, or has only in part: somebody else removed them. */
  missing: Set<string>;
}

/**
 * Removes contents that the pointer does not lead to any more, a day after they were written at the earliest. Reads the
 * list of all contents: for maintenance, not for every run. Throws `StorageError`.
 */
export async function sweepStorage(store: ObjectStore, logger: Logger, now: number): Promise<Sweep> {
  const kept = await namedContents(store);
  if (kept === undefined) return { removed: 0, missing: new Set() };
  const missing = new Set([...kept.values()].map(({ sha256 }) => sha256));
  const litter: string[] = [];
  for (const prefix of [contentsPrefix, trackerPrefix])
    for await (const { key, modified, bytes } of store.list(prefix)) {
      const content = kept.get(key);
      if (content !== undefined && content.bytes === bytes) missing.delete(content.sha256);
      if (content === undefined && now - modified >= leastAgeMilliseconds) litter.push(key);
    }
  for await (const { key, modified } of store.list(probePrefix))
    if (now - modified >= leastAgeMilliseconds) litter.push(key);
  // The list may be as long ago as the removals take: what another writer has come to name meanwhile stays.
  const named = litter.length === 0 ? kept : ((await namedContents(store)) ?? kept);
  const leaving = litter.filter((key) => !named.has(key));
  for (const key of leaving) await store.remove(key);
  logger.info({ storage: store.url, kept: kept.size, removed: leaving.length, missing: missing.size }, 'storage swept');
  return { removed: leaving.length, missing };
}

/** Objects that the pointer leads to, by key; undefined where there is none. */
async function namedContents(store: ObjectStore): Promise<Map<string, Content> | undefined> {
  const stored = await readPointer(store);
  if (stored === undefined) return undefined;
  const { snapshots, state, tracker } = stored.pointer;
  const named: Content[] = [];
  for (const { manifest } of snapshots)
    named.push(manifest, ...Object.values(parseManifest((await readContent(store, manifest)).toString()).files));
  if (state !== null) {
    const { blocks, files } = await readStateContents(store, state);
    named.push(state, ...blocks, ...Object.values(files));
  }
  const ofTracker = Object.values(tracker ?? {});
  return new Map([
    ...named.map((content) => [contentKey(content), content] as const),
    ...ofTracker.map((content) => [contentKey(content, trackerPrefix), content] as const),
  ]);
}
