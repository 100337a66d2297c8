import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DataDirectory } from '../../../kit/config/data-directory.ts';
import type { Settings } from '../../../kit/config/settings.ts';
import { UsageError } from '../../../kit/errors/errors.ts';
import type { Effects } from '../../../kit/files/effects.ts';
import { severalAtOnce } from '../../../kit/files/several-at-once.ts';
import type { Logger } from '../../../kit/logging/log.ts';
import { quarantineDeliveries } from '../../../postbacks/store/quarantine-deliveries.ts';
import { snapshotsWithReaders } from '../../../pipeline/snapshot/open-readers.ts';
import { currentName, snapshotNames } from '../../../pipeline/snapshot/snapshot-store.ts';
import { checkNamedFile } from '../../../pipeline/warehouse/named-files.ts';
import { ConfigurationComparison } from '../configuration.ts';
import { fetchFile } from '../contents.ts';
import type { ObjectStore } from '../object-store.ts';
import { lostPointer, proveConditionalWrites, readPointer, type Pointer, type StoredPointer } from '../pointer.ts';
import { assertFollowsOnSeen, rememberSeen } from '../seen-pointer.ts';
import { writeLake } from '../../../pipeline/snapshot/lake/write-lake.ts';
import { bringSnapshot, removeSnapshot } from '../snapshots.ts';
import { bringTrackerFiles } from '../tracker-files.ts';
import { fetchBlocks } from './database-blocks.ts';
import { swap, withoutSwap, type NextPointer } from './publish-run.ts';
import {
  stateAfterSwap,
  readStateContents,
  readSyncState,
  writeSyncState,
  type StateContents,
  type SyncState,
} from './sync-state.ts';

export interface StorageSync {
  data: DataDirectory;
  settings: Pick<Settings, 'lock_wait_seconds'>;
  logger: Logger;
  effects: Effects;
  store: ObjectStore;
}

/**
 * Makes this machine's state the one that storage has, before a run opens it: another machine may have written since.
 * The caller holds the writer lock. Throws `UsageError` where a state is here that storage knows nothing of,
 * `StorageError` where storage cannot be read.
 */
export async function syncFromStorage(sync: StorageSync): Promise<SyncState> {
  const stored = await readPointer(sync.store);
  if (stored === undefined) return firstState(sync);
  const same = await stateIfSame(sync, stored);
  if (same !== undefined) return same;
  assertFollowsOnSeen(sync.data, sync.store.url, stored);
  return takeOver(sync, stored);
}

/** Throws `UsageError` where a state is here that never came to storage: it is the only one of its kind. */
function assertMayGiveWay({ data, store }: StorageSync, memory: SyncState | undefined): void {
  if (!existsSync(data.stateFile) || (memory !== undefined && memory.ownState !== true)) return;
  throw new UsageError(
    `${data.warehouse} has a state of its own, and ${store.url} has another one: move warehouse, published and postbacks away to go on with what storage has, or give this network another prefix`,
  );
}

/**
 * Checks that this machine may write there at all, before it waits for its turn. Throws `UsageError`, `StorageError`.
 */
export async function assertFitStorage(sync: StorageSync): Promise<void> {
  await proveConditionalWrites(sync.store);
  const memory = readSyncState(sync.data, sync.store.url);
  if (memory === undefined && (await readPointer(sync.store)) !== undefined) assertMayGiveWay(sync, memory);
}

/** Where nothing was published yet: shows that storage is fit for it. */
async function firstState({ data, effects, store }: StorageSync): Promise<SyncState> {
  const memory = readSyncState(data, store.url);
  if (memory?.stored) throw lostPointer(store);
  await proveConditionalWrites(store);
  if (memory !== undefined) return memory;
  const first: SyncState = {
    url: store.url,
    stored: null,
    known: { state: { blocks: [], files: {} }, digests: [] },
    ...(existsSync(data.stateFile) && { ownState: true }),
  };
  await writeSyncState(data, first, effects);
  return first;
}

/** Returns this machine's sync state where its warehouse is the one that storage has. */
async function stateIfSame(
  { data, effects, store }: StorageSync,
  stored: StoredPointer,
): Promise<SyncState | undefined> {
  const memory = readSyncState(data, store.url);
  if (memory?.stored?.pointer.swap === stored.pointer.swap) return memory;
  if (memory?.begun?.pointer.swap !== stored.pointer.swap) return undefined;
  const ours = stateAfterSwap(memory, stored, memory.begun.known);
  await writeSyncState(data, ours, effects);
  return ours;
}

/**
 * Makes the state here that of storage and gives the pointer the next epoch, so that any other writer that read it
 * before loses the next swap. The caller holds the writer lock. Throws as `syncFromStorage` does, `LostSwapError` where
 * another was faster, and what `assertHeld` does where the lease is another's.
 */
export async function takeEpoch(sync: StorageSync, assertHeld: () => Promise<void>): Promise<number> {
  const { data, effects, store } = sync;
  const memory = await syncFromStorage(sync);
  // After the pointer was read: who takes the lease from now on takes an epoch after ours, or lets our swap be lost. An
  // epoch that one takes who has lost the lease would shut out the processes of the one that has it.
  await assertHeld();
  const nothing: NextPointer = { version: 1, epoch: 0, run_id: 0, snapshots: [], state: null };
  const before = memory.stored === null ? nothing : withoutSwap(memory.stored.pointer);
  const next = { ...before, epoch: before.epoch + 1 };
  await swap({ data, effects, store, memory }, next, memory.known);
  return next.epoch;
}

/**
 * Replaces what is here by what storage has; only the delivery store, which knows attempts made since, is put aside, in
 * the place of the one before. May be ended anywhere: the next run begins it again. Throws `UsageError` where the state
 * here never came to storage, `StorageError`.
 */
export async function takeOver(sync: StorageSync, stored: StoredPointer): Promise<SyncState> {
  const { data, settings, logger, effects, store } = sync;
  const { pointer } = stored;
  const before = readSyncState(data, store.url);
  assertMayGiveWay(sync, before);
  const here = before?.stored?.pointer.run_id ?? 0;
  if (here > pointer.run_id)
    logger.warn(
      { run: pointer.run_id, storage: store.url },
      `storage has run ${pointer.run_id} where this machine had run ${here}: its state is brought here, landing files are read again`,
    );
  else
    logger.info(
      { run: pointer.run_id, storage: store.url },
      'another machine has written since: its state is brought here',
    );
  const nothing: StateContents = { blocks: [], files: {} };
  const state = pointer.state === null ? nothing : await readStateContents(store, pointer.state);
  await effects.files.makeDirectory(data.scratch);
  const brought = join(data.scratch, 'state-of-storage.duckdb');
  if (pointer.state !== null) await fetchBlocks(store, state.blocks, brought, data.stateFile, effects);
  await bringFiles(sync, state.files, before?.known.state.files ?? {});
  // A state without a note of storage would be this machine's own, should the takeover break off from here on.
  if (before === undefined)
    await writeSyncState(data, { url: store.url, stored: null, known: { state: nothing, digests: [] } }, effects);
  const request = {
    command: 'run',
    waitSeconds: settings.lock_wait_seconds,
    onWaiting: (message: string) => logger.info(message),
  };
  const reason = `another machine has written run ${pointer.run_id} to ${store.url}`;
  if (existsSync(data.deliveriesFile))
    await quarantineDeliveries(data, reason, request, effects, 'replaced-deliveries');
  // What this machine made beyond storage's state comes of its landing files again. A log would be replayed into the
  // other state, key runs of the same name would pass for those of its events, and a run that failed here for the last
  // one of all: they are made again.
  for (const path of [`${data.stateFile}.wal`, data.stateCopies, data.damageNote, data.keys, data.recentRunsFile])
    await effects.files.remove(path, 'storage: what belongs to the state before removed');
  if (pointer.state === null) await effects.files.remove(data.stateFile, 'storage: state removed');
  else await effects.files.rename(brought, data.stateFile, 'storage: state renamed');
  await effects.files.syncDirectory(data.warehouse, 'storage: warehouse synced');
  // Before the snapshot, as a publish does: no link is shown that a tracker here does not know.
  await bringTrackerFiles(sync, pointer);
  await takeOverSnapshots(sync, { before: before?.stored?.pointer, pointer, stateFiles: state.files });
  const memory: SyncState = { url: store.url, stored, known: { state, digests: [] }, brought: true };
  await writeSyncState(data, memory, effects);
  await rememberSeen(data, store.url, pointer, effects);
  await new ConfigurationComparison(data).note(sync, store.url, pointer);
  return memory;
}

/**
 * Files of the warehouse as storage has them. A file of the same name and size may be another one, of a run here that
 * was discarded: only what was the same before is taken by its size.
 */
async function bringFiles(
  { data, effects: { files }, store }: StorageSync,
  wanted: StateContents['files'],
  before: StateContents['files'],
): Promise<void> {
  await severalAtOnce(Object.entries(wanted), async ([path, content]) => {
    const target = join(data.warehouse, path);
    const isNew = before[path]?.sha256 !== content.sha256;
    if ((await checkNamedFile(target, content, isNew)) === undefined) return;
    await files.makeDirectory(dirname(target));
    await fetchFile(store, content, `${target}.part`, files);
    await files.rename(`${target}.part`, target, 'storage: warehouse file renamed');
    await files.syncDirectory(dirname(target), 'storage: warehouse folder synced');
  });
}

/**
 * The newest snapshot of storage is current here; those that storage does not have are gone, but for older ones that a
 * reader has open: a later takeover or run removes them.
 */
async function takeOverSnapshots(
  { data, logger, effects, store }: StorageSync,
  {
    before,
    pointer,
    stateFiles,
  }: { before: Pointer | undefined; pointer: Pointer; stateFiles: StateContents['files'] },
): Promise<void> {
  await effects.files.makeDirectory(data.published);
  const [newest] = pointer.snapshots;
  const here = new Map(Object.entries(stateFiles).map(([path, { sha256 }]) => [sha256, join(data.warehouse, path)]));
  if (newest !== undefined) await bringSnapshot({ data, effects, store, here }, newest);
  const kept = new Set(pointer.snapshots.map(({ snapshot_id }) => snapshot_id));
  const held = await snapshotsWithReaders(data);
  // Names begin with the number of the run. What a run here made since the last sync never came to storage.
  const wasInStorage = (name: string) => name <= (before?.snapshots[0]?.snapshot_id ?? '');
  const isHeld = (name: string) => held.has(name) && wasInStorage(name) && name < (newest?.snapshot_id ?? '');
  const current = await currentName(data);
  const names = await snapshotNames(data);
  const staying = names.filter((name) => kept.has(name) || isHeld(name));
  await writeLake(data, staying, effects);
  for (const name of names) {
    if (staying.includes(name)) continue;
    if (name === current) await effects.files.remove(data.current, 'current link: removed');
    await removeSnapshot(data, name, effects);
    if (!wasInStorage(name))
      logger.warn({ snapshot: name }, 'this snapshot was published here alone, and is discarded');
  }
}
