import { UsageError } from '../../../kit/errors/errors.ts';
import { warehouseIdKey } from '../../../pipeline/deliveries/sync-deliveries.ts';
import { writerEpochVariable } from '../../../pipeline/runs/held-lease.ts';
import { lastRunId } from '../../../pipeline/runs/run-ledger.ts';
import type { OpenRunOnStorage } from '../../../pipeline/runs/run-on-storage.ts';
import { clockOffsetAdvice, describeClockOffset } from '../../../pipeline/runs/storage-clock.ts';
import { deleteMetadata } from '../../../pipeline/warehouse/metadata.ts';
import { namedFiles } from '../../../pipeline/warehouse/named-files.ts';
import { LostSwapError, ObjectStore, StorageError } from '../object-store.ts';
import { readPointer } from '../pointer.ts';
import { assertFollowsOnSeen, ForkedPointerError } from '../seen-pointer.ts';
import { publishRun } from './publish-run.ts';
import { publishCatalog } from './publish-tables.ts';
import { syncFromStorage, takeOver, type StorageSync } from './sync-from-storage.ts';
import { withoutContents, type SyncState } from './sync-state.ts';
import { sweepStorage } from './sweep-storage.ts';

/**
 * Throws `UsageError` where this machine only follows, `LostSwapError` where another schedule has taken over,
 * `StorageError` where its clock differs from storage's.
 */
export const openRunOnStorage: OpenRunOnStorage = async (
  { storage, snapshots_kept: snapshotsKept, lock_wait_seconds },
  opening,
) => {
  if (storage.follow)
    throw new UsageError(
      `this machine follows ${storage.url} and writes nothing: leave "follow" out of "storage" in offerline.json where runs are to be made`,
    );
  const store = await ObjectStore.open(storage);
  const sync: StorageSync = { ...opening, settings: { lock_wait_seconds }, store };
  let memory: SyncState;
  try {
    memory = await syncFromStorage(sync);
    assertEpoch(memory, process.env);
    assertClock(store);
  } catch (error) {
    store[Symbol.dispose]();
    throw error;
  }
  let names: Parameters<typeof publishRun>[1] | undefined;
  return {
    async begin({ connection }) {
      // A run of either machine that was discarded may have handed postbacks to a store that both share, by numbers
      // which mean others here: as a new warehouse this one hands over all of them again.
      if (memory.brought) await deleteMetadata(connection, warehouseIdKey);
    },
    async note({ connection }) {
      names = { files: await namedFiles(connection), runId: await lastRunId(connection) };
    },
    async publish({ sweep }) {
      if (names === undefined) return;
      const publishing = { ...opening, store, epoch: memory.stored?.pointer.epoch ?? 0, snapshotsKept };
      memory = await publishedRun(sync, { ...publishing, memory }, names);
      if (memory.stored !== null) await publishCatalog(publishing, memory.stored);
      const lost = sweep ? await swept(sync) : new Set<string>();
      if (lost.size > 0)
        await publishedRun(sync, { ...publishing, memory: withoutContents(memory, lost), lost }, names);
    },
    [Symbol.dispose]: () => store[Symbol.dispose](),
  };
};

function assertEpoch({ stored, url }: SyncState, environment: NodeJS.ProcessEnv): void {
  const expected = environment[writerEpochVariable];
  if (expected === undefined || stored === null || stored.pointer.epoch === Number(expected)) return;
  throw new LostSwapError(`another schedule has taken over ${url}: this one writes nothing any more`);
}

/**
 * Throws `StorageError` where this machine's clock is wrong: a run as of ahead would keep every other machine from
 * publishing until its clock is there.
 */
function assertClock({ clockOffset, url }: ObjectStore): void {
  const wrongClock = describeClockOffset(clockOffset, url);
  if (wrongClock !== undefined) throw new StorageError(`no run is made: ${wrongClock}; ${clockOffsetAdvice}`);
}

/** Sweeps storage. Returns published objects that it has lost. Where sweeping fails, a later run does it. */
async function swept({ store, logger, effects }: StorageSync): Promise<ReadonlySet<string>> {
  try {
    return (await sweepStorage(store, logger, effects.now())).missing;
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    logger.warn({ storage: store.url }, `storage is not swept: ${error.message}`);
    return new Set();
  }
}

/** Publishes a run. Throws `LostSwapError` with it discarded, `StorageError` where it is not in storage. */
async function publishedRun(sync: StorageSync, ...publishing: Parameters<typeof publishRun>): Promise<SyncState> {
  try {
    return await publishRun(...publishing);
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    throw await unpublished(sync, publishing[1].runId, error);
  }
}

/** Returns the error of a run that is not in storage, and discards the run where another writer was faster. */
async function unpublished(sync: StorageSync, runId: number, error: StorageError): Promise<StorageError> {
  let reason = error;
  try {
    if (error instanceof LostSwapError) return await discarded(sync, runId, error);
  } catch (cause) {
    if (!(cause instanceof ForkedPointerError)) throw cause;
    reason = cause;
  }
  return new StorageError(
    `run ${runId} is done here and is not in storage; the next run publishes it there. ${reason.message}`,
    undefined,
    { cause: reason },
  );
}

/** Replaces this run at once by what another writer published, so that nobody takes the state here for the truth. */
async function discarded(sync: StorageSync, runId: number, error: LostSwapError): Promise<LostSwapError> {
  const stored = await readPointer(sync.store);
  if (stored !== undefined) {
    assertFollowsOnSeen(sync.data, sync.store.url, stored);
    await takeOver(sync, stored);
  }
  return new LostSwapError(
    `run ${runId} is discarded: ${error.message}. Its landing files are read again by the next run`,
    undefined,
    { cause: error },
  );
}
