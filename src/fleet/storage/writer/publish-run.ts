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

/** Contents that storage has to have before the pointer names them. */
class WantedContents {
  readonly #byDigest = new Map<string, Wanted>();

  add(content: Content, bytes: Wanted['bytes'], key = contentKey(content)): void {
    this.#byDigest.set(content.sha256, { content, bytes, key });
  }

  addFile({ sha256, bytes }: Content, path: string): void {
    this.add({ sha256, bytes }, async () => ({ path, bytes }));
  }

  get digests(): string[] {
    return [...this.#byDigest.keys()];
  }

  /** Those that storage is not known to have. */
  missing({ digests, state: { blocks, files } }: SyncState['known']): Wanted[] {
    const known = new Set([...digests, ...[...blocks, ...Object.values(files)].map(({ sha256 }) => sha256)]);
    return [...this.#byDigest.values()].filter(({ content }) => !known.has(content.sha256));
  }
}

/**
 * Writes what storage lacks of the closed state and of the current snapshot, gives its tables their readable names,
 * then swaps the pointer. Contents and names come first, so a pointer never leads to what is not there. What does not
 * get that far is litter that maintenance removes.
 * Throws `LostSwapError` where another writer was faster, `StorageError` where storage cannot be written.
 */
export async function publishRun(publishing: PublishingRun, names: StateNames): Promise<SyncState> {
  const { data, logger, effects, store, memory, epoch } = publishing;
  const before = memory.stored?.pointer;
  const wanted = new WantedContents();
  const state = await wantState(data, names.files, wanted);
  const snapshots = await wantCurrentSnapshot(publishing, wanted);
  const unnamed = await unnamedTables(publishing, snapshots, before?.snapshots ?? [], publishing.lost ?? new Set());
  const pointer: NextPointer = {
    version: 1,
    epoch,
    run_id: names.runId,
    snapshots,
    state: state.content,
    ...(await wantTrackerFiles(data, wanted)),
    configuration: await digestConfiguration(data, before?.configuration?.salt),
  };
  const missing = wanted.missing(memory.known);
  const same = before !== undefined && JSON.stringify(pointer) === JSON.stringify(withoutSwap(before));
  if (same && missing.length === 0 && unnamed.length === 0) return memory;
  const started = effects.now();
  await severalAtOnce(missing, ({ key, bytes }) =>
    effects.perform('storage: content written', async () => store.write(key, await bytes())),
  );
  await severalAtOnce(unnamed, (table) => effects.perform('storage: table named', () => nameTable(publishing, table)));
  // What the snapshots of the pointer name stays in storage, so it need not be known for longer.
  const after = await swap(publishing, pointer, { state: state.contents, digests: wanted.digests });
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

/** The state's blocks, the files that it names, and the list of both. */
async function wantState(
  { stateFile, warehouse }: DataDirectory,
  files: StateNames['files'],
  wanted: WantedContents,
): Promise<{ content: Content; contents: StateContents }> {
  const contents: StateContents = { blocks: [], files: {} };
  for (const block of await blocksOf(stateFile)) {
    contents.blocks.push(block.content);
    wanted.add(block.content, () => readBlock(stateFile, block));
  }
  for (const { path, sha256, bytes } of files) {
    contents.files[path] = { sha256, bytes };
    wanted.addFile({ sha256, bytes }, join(warehouse, path));
  }
  const text = Buffer.from(JSON.stringify(contents));
  const content = contentOf(text);
  wanted.add(content, async () => text);
  return { content, contents };
}

/** Returns what the pointer names: the current snapshot before those of the pointer so far. */
async function wantCurrentSnapshot(
  { data, memory, snapshotsKept }: PublishingRun,
  wanted: WantedContents,
): Promise<PointedSnapshot[]> {
  const before = memory.stored?.pointer.snapshots ?? [];
  const manifest = await currentManifest(data);
  if (manifest === undefined) return before;
  const { snapshot_id, as_of, files } = manifest;
  const folder = join(data.published, snapshot_id);
  const manifestPath = join(folder, manifestFile);
  const content = contentOf(await readFile(manifestPath));
  wanted.addFile(content, manifestPath);
  for (const [path, file] of Object.entries(files)) wanted.addFile(file, join(folder, path));
  const newest: PointedSnapshot = { snapshot_id, as_of, manifest: content, readable: true };
  return [newest, ...before.filter((one) => one.snapshot_id !== snapshot_id)].slice(0, snapshotsKept);
}

async function wantTrackerFiles(data: DataDirectory, wanted: WantedContents): Promise<Pick<NextPointer, 'tracker'>> {
  const tracker = await trackerFilesHere(data);
  if (tracker === undefined) return {};
  for (const { content, bytes } of Object.values(tracker))
    wanted.add(content, async () => bytes, contentKey(content, trackerPrefix));
  return { tracker: { keys: tracker.keys.content, routes: tracker.routes.content } };
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
