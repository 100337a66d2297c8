import type { DataDirectory } from '../src/kit/config/data-directory.ts';
import type { Settings } from '../src/kit/config/settings.ts';
import { UsageError } from '../src/kit/errors/errors.ts';
import type { Effects } from '../src/kit/files/effects.ts';
import type { Logger } from '../src/kit/logging/log.ts';
import { warehouseIdKey } from '../src/pipeline/deliveries/sync-deliveries.ts';
import { lastRunId } from '../src/pipeline/runs/run-ledger.ts';
import { writerEpochVariable } from '../src/pipeline/runs/held-lease.ts';
import { LostSwapError, ObjectStore, StorageError } from '../src/fleet/storage/object-store.ts';
import { readPointer } from '../src/fleet/storage/pointer.ts';
import { publishRun } from '../src/fleet/storage/writer/publish-run.ts';
import { standOnStorage, takeOver, type Standing } from '../src/fleet/storage/writer/stand-on-storage.ts';
import { withoutContents, type StorageMemory } from '../src/fleet/storage/writer/storage-memory.ts';
import { sweepStorage } from '../src/fleet/storage/writer/sweep-storage.ts';
import type { StateDatabase } from '../src/pipeline/warehouse/database.ts';
import { deleteMetadata } from '../src/pipeline/warehouse/metadata.ts';
import { namedFiles } from '../src/pipeline/warehouse/named-files.ts';

/** Steps of a run that use object storage, where that is configured. */
export interface RunOnStorage extends Disposable {
  /** Called with the state open, before the work. */
  begin(state: StateDatabase): Promise<void>;
  /** Called with the state open, after the work: reads what `publish` needs. */
  note(state: StateDatabase): Promise<void>;
  /**
   * Called after the state is closed. Throws `LostSwapError` with this run discarded, `StorageError` where the run is
   * done here and is not in storage. With `sweep` removes objects that nothing needs any more.
   */
  publish(options: { sweep: boolean }): Promise<void>;
}

/**
 * Replaces the state here by that of storage, and returns the steps that publish the run there; undefined without storage.
 * The caller holds the writer lock. Throws `UsageError` where this machine only follows, `LostSwapError` where another
 * schedule has taken over.
 */
export async function runOnStorage(
  { storage, snapshots_kept: snapshotsKept, lock_wait_seconds }: Settings,
  opening: { data: DataDirectory; logger: Logger; effects: Effects },
  environment: NodeJS.ProcessEnv = process.env,
): Promise<RunOnStorage | undefined> {
  if (storage === undefined) return undefined;
  if (storage.follow)
    throw new UsageError(
      `this machine follows ${storage.url} and writes nothing: leave "follow" out of "storage" in offerline.json where runs are to be made`,
    );
  const store = await ObjectStore.open(storage);
  const standing: Standing = { ...opening, settings: { lock_wait_seconds }, store };
  let memory: StorageMemory;
  try {
    memory = await standOnStorage(standing);
    assertEpoch(memory, environment);
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
      const epoch = memory.stored?.pointer.epoch ?? 0;
      try {
        const publishing = { ...opening, store, epoch, snapshotsKept };
        const after = await publishRun({ ...publishing, memory }, names);
        const lost = sweep ? await swept(standing) : new Set<string>();
        if (lost.size > 0) await publishRun({ ...publishing, memory: withoutContents(after, lost) }, names);
      } catch (error) {
        if (error instanceof LostSwapError) throw await discarded(standing, names.runId, error);
        if (!(error instanceof StorageError)) throw error;
        throw new StorageError(
          `run ${names.runId} stands here and is not in storage; the next run brings it there. ${error.message}`,
          undefined,
          { cause: error },
        );
      }
    },
    [Symbol.dispose]: () => store[Symbol.dispose](),
  };
}

function assertEpoch({ stored, url }: StorageMemory, environment: NodeJS.ProcessEnv): void {
  const expected = environment[writerEpochVariable];
  if (expected === undefined || stored === null || stored.pointer.epoch === Number(expected)) return;
  throw new LostSwapError(`another schedule has taken over ${url}: this one writes nothing any more`);
}

/** Sweeps storage. Returns published objects that it has lost. Where sweeping fails, a later run does it. */
async function swept({ store, logger, effects }: Standing): Promise<ReadonlySet<string>> {
  try {
    return (await sweepStorage(store, logger, effects.now())).missing;
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    logger.warn({ storage: store.url }, `storage is not swept: ${error.message}`);
    return new Set();
  }
}

/** Replaces this run at once by what another writer published, so that nobody takes the state here for the truth. */
async function discarded(standing: Standing, runId: number, error: LostSwapError): Promise<LostSwapError> {
  const stored = await readPointer(standing.store);
  if (stored !== undefined) await takeOver(standing, stored);
  return new LostSwapError(
    `run ${runId} is discarded: ${error.message}. Its landing files are read again by the next run`,
    undefined,
    { cause: error },
  );
}
