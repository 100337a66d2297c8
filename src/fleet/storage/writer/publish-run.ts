import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataDirectory } from '../../../kit/config/data-directory.ts';
import type { Effects } from '../../../kit/files/effects.ts';
import { severalAtOnce } from '../../../kit/files/several-at-once.ts';
import type { Logger } from '../../../kit/logging/log.ts';
import { currentManifest } from '../../../pipeline/snapshot/snapshot-store.ts';
import { manifestFile } from '../../../pipeline/snapshot/manifest.ts';
import { noteConfiguration } from '../../../pipeline/runs/configuration-note.ts';
import type { NamedFile } from '../../../pipeline/warehouse/named-files.ts';
import { contentKey, contentOf } from '../contents.ts';
import { digestConfiguration } from '../configuration.ts';
import type { ObjectStore } from '../object-store.ts';
import { successionOf, swapPointer, type Content, type PointedSnapshot, type Pointer } from '../pointer.ts';
import { rememberSeen } from '../seen-pointer.ts';
import { trackerFilesHere, trackerPrefix } from '../tracker-files.ts';
import { blocksOf, readBlock } from './database-blocks.ts';
import { nameTable, unnamedTables } from './publish-tables.ts';
import { stateAfterSwap, writeSyncState, type StateContents, type SyncState } from './sync-state.ts';

/** Parts of the state that are read while it is open: files that it names, and its last run. */
export interface StateNames {
  files: Pick<NamedFile, 'path' | 'sha256' | 'bytes'>[];
  runId: number;
}

export interface PublishingRun {
  data: DataDirectory;
  logger: Logger;
  effects: Effects;
  store: ObjectStore;
  /** State of the last sync, on which this run builds. */
  memory: SyncState;
  epoch: number;
  snapshotsKept: number;
  /** Digests that storage has lost. */
  lost?: ReadonlySet<string>;
}

/** Object to write, and how to get its bytes. */
interface Wanted {
  content: Content;
  key: string;
  bytes: () => Promise<Buffer | { path: string; bytes: number }>;
}

/**
 * Writes what storage lacks of the closed state and of the current snapshot, gives its tables their readable names,
 * then swaps the pointer. Contents and names come first, so a pointer never leads to what is not there. What does not
 * get that far is litter that maintenance removes.
 * Throws `LostSwapError` where another writer was faster, `StorageError` where storage cannot be written.
 */
export async function publishRun(publishing: PublishingRun, names: StateNames): Promise<SyncState> {
  const { data, logger, effects, store, memory, epoch, snapshotsKept } = publishing;
  const wanted = new Map<string, Wanted>();
  const want = (content: Content, bytes: Wanted['bytes'], key = contentKey(content)) =>
    wanted.set(content.sha256, { content, bytes, key });
  const wantFile = (content: Content, path: string) => want(content, async () => ({ path, bytes: content.bytes }));

  const state: StateContents = { blocks: [], files: {} };
  for (const block of await blocksOf(data.stateFile)) {
    state.blocks.push(block.content);
    want(block.content, () => readBlock(data.stateFile, block));
  }
  for (const { path, sha256, bytes } of names.files) {
    state.files[path] = { sha256, bytes };
    wantFile({ sha256, bytes }, join(data.warehouse, path));
  }
  const stateText = Buffer.from(JSON.stringify(state));
  want(contentOf(stateText), async () => stateText);

  const before = memory.stored?.pointer;
  let snapshots = before?.snapshots ?? [];
  const manifest = await currentManifest(data);
  if (manifest !== undefined) {
    const folder = join(data.published, manifest.snapshot_id);
    const manifestPath = join(folder, manifestFile);
    const manifestContent = contentOf(await readFile(manifestPath));
    wantFile(manifestContent, manifestPath);
    for (const [path, { sha256, bytes }] of Object.entries(manifest.files))
      wantFile({ sha256, bytes }, join(folder, path));
    const { snapshot_id, as_of } = manifest;
    const newest: PointedSnapshot = { snapshot_id, as_of, manifest: manifestContent, readable: true };
    snapshots = [newest, ...snapshots.filter((one) => one.snapshot_id !== snapshot_id)].slice(0, snapshotsKept);
  }
  const unnamed = await unnamedTables(publishing, snapshots, before?.snapshots ?? [], publishing.lost ?? new Set());
  const tracker = await trackerFilesHere(data);
  for (const { content, bytes } of Object.values(tracker ?? {}))
    want(content, async () => bytes, contentKey(content, trackerPrefix));
  const pointer: NextPointer = {
    version: 1,
    epoch,
    run_id: names.runId,
    snapshots,
    state: contentOf(stateText),
    ...(tracker && { tracker: { keys: tracker.keys.content, routes: tracker.routes.content } }),
    configuration: await digestConfiguration(data, before?.configuration?.salt),
  };
  const known = new Set([
    ...memory.known.digests,
    ...memory.known.state.blocks.map(({ sha256 }) => sha256),
    ...Object.values(memory.known.state.files).map(({ sha256 }) => sha256),
  ]);
  const missing = [...wanted.values()].filter(({ content }) => !known.has(content.sha256));
  const same = before !== undefined && JSON.stringify(pointer) === JSON.stringify(withoutSwap(before));
  if (same && missing.length === 0 && unnamed.length === 0) return memory;
  const started = effects.now();
  await severalAtOnce(missing, ({ key, bytes }) =>
    effects.perform('storage: content written', async () => store.write(key, await bytes())),
  );
  await severalAtOnce(unnamed, (table) => effects.perform('storage: table named', () => nameTable(publishing, table)));
  // What the snapshots of the pointer name stays in storage, so it need not be known for longer.
  const after = await swap(publishing, pointer, { state, digests: [...wanted.keys()] });
  await noteConfiguration(publishing, { url: store.url, files: [], run_id: names.runId });
  logger.info(
    {
      run: names.runId,
      contents: missing.length,
      bytes: missing.reduce((sum, { content }) => sum + content.bytes, 0),
      ms: effects.now() - started,
    },
    'published to storage',
  );
  return after;
}

export type NextPointer = Omit<Pointer, 'swap' | 'serial' | 'previous'>;

/** Returns the part of a pointer that says what is published, in the order in which it is compared. */
export function withoutSwap({ swap: _swap, serial: _serial, previous: _previous, ...pointer }: Pointer): NextPointer {
  return pointer;
}

/** Swaps the pointer, and remembers before and after that it was us, so that a kill in between is no riddle. */
export async function swap(
  { data, effects, store, memory }: Pick<PublishingRun, 'data' | 'effects' | 'store' | 'memory'>,
  next: NextPointer,
  known: SyncState['known'],
): Promise<SyncState> {
  const before = memory.stored?.pointer;
  const pointer: Pointer = { ...next, ...successionOf(before), swap: randomUUID() };
  await writeSyncState(data, { ...memory, begun: { pointer, known } }, effects);
  const stored = await effects.perform('storage: pointer swapped', () =>
    swapPointer(store, memory.stored ?? undefined, pointer),
  );
  const after = stateAfterSwap(memory, stored, known);
  await writeSyncState(data, after, effects);
  await rememberSeen(data, store.url, pointer, effects);
  return after;
}
