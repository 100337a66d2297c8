import { setTimeout } from 'node:timers/promises';
import { withWriterLock } from '../../../../pipelines/run-pipeline.ts';
import type { DataDirectory } from '../../../kit/config/data-directory.ts';
import type { Settings } from '../../../kit/config/settings.ts';
import { WarehouseBusyError } from '../../../kit/errors/errors.ts';
import { realEffects } from '../../../kit/files/effects.ts';
import type { ProcessLock } from '../../../kit/files/process-lock.ts';
import { forgetRefusedRuns } from '../../../pipeline/runs/refused-runs.ts';
import { acquireSchedulerLock, type Schedule } from '../../schedule/schedule.ts';
import { writerEpochVariable } from '../../../pipeline/runs/held-lease.ts';
import { WriterLease } from '../../../fleet/storage/lease.ts';
import { leaseTimes } from '../../../pipeline/runs/held-lease.ts';
import { ObjectStore } from '../../../fleet/storage/object-store.ts';
import { RoleNote, type ReportedRole } from '../../../pipeline/runs/storage-role.ts';
import { readStorageMemory } from '../../../fleet/storage/writer/storage-memory.ts';
import {
  assertFitStorage,
  standOnStorage,
  takeEpoch,
  type Standing,
} from '../../../fleet/storage/writer/stand-on-storage.ts';
import { readPointer, type StoredPointer } from '../../../fleet/storage/pointer.ts';
import type { CommandContext } from '../../context.ts';

/**
 * A schedule of several on one storage: it stands by while another writes, and begins once that has fallen silent or
 * has given up. Its processes are told its epoch. Throws `StorageError` where storage is not fit for several writers.
 */
export async function openLeasedSchedule(
  data: DataDirectory,
  settings: Settings & { storage: NonNullable<Settings['storage']> },
  { terminal: { logger } }: CommandContext,
  open: (environment: NodeJS.ProcessEnv) => Promise<Schedule>,
): Promise<Schedule> {
  const effects = realEffects;
  // For as long as it stands by, too: by this lock `status` knows that it lives.
  const lock = await acquireSchedulerLock(data.storageScheduleLockFile);
  const note = new RoleNote(data.scheduleRoleFile, settings.storage.url, { effects, logger });
  let store: ObjectStore | undefined;
  try {
    store = await ObjectStore.open(settings.storage);
    const standing = { data, settings, logger, effects, store };
    await assertFitStorage(standing);
    return leasedSchedule(standing, note, lock, open);
  } catch (error) {
    await note.reportError((error as Error).message);
    store?.[Symbol.dispose]();
    lock.release();
    throw error;
  }
}

/** Ends `lock`, `note` and the store of `standing` with itself. */
function leasedSchedule(
  standing: Standing & { settings: Settings },
  note: RoleNote,
  lock: ProcessLock,
  open: (environment: NodeJS.ProcessEnv) => Promise<Schedule>,
): Schedule {
  const { data, settings, logger, effects, store } = standing;
  const ending = new AbortController();
  const epochTaken = (assertHeld: () => Promise<void>) =>
    withWriterLock('schedule', { data, settings, logger, effects }, () => takeEpoch(standing, assertHeld));

  let known: StoredPointer | undefined;
  let complaint: string | undefined;
  /**
   * Brings what the writer has published, so that a takeover has little to fetch and `start` serves what is new. Gives
   * why it cannot.
   */
  async function keepUp(): Promise<string | undefined> {
    try {
      const stored = await readPointer(store, known);
      const isNews = stored === undefined ? hasSeenPointer() : stored !== known;
      if (isNews) {
        // A run by hand has the lock: what is here is its business until the next look.
        const now = { ...settings, lock_wait_seconds: 0 };
        await withWriterLock('schedule', { data, settings: now, logger, effects }, () => standOnStorage(standing));
      }
      known = stored;
      complaint = undefined;
      // What stands here now is the writer's, whatever became of our own runs.
      await forgetRefusedRuns({ data, effects, logger });
    } catch (error) {
      if (error instanceof WarehouseBusyError) return complaint;
      const { message } = error as Error;
      if (message !== complaint)
        logger.warn({ storage: store.url }, `what is published is not brought here: ${message}`);
      complaint = message;
    }
    return complaint;
  }

  /** Where nothing was published yet, there is nothing to be brought. */
  const hasSeenPointer = () => Boolean(readStorageMemory(data, store.url)?.stored);

  async function writeOnce(): Promise<void> {
    const leasing = {
      data,
      store,
      logger,
      effects,
      standBy: keepUp,
      tellRole: (told: ReportedRole) => note.report(told),
    };
    const lease = await WriterLease.acquire(leasing, epochTaken, ending.signal);
    if (lease === undefined) return;
    try {
      const schedule = await open({ [writerEpochVariable]: String(lease.epoch) });
      await aborted(AbortSignal.any([ending.signal, lease.lost]));
      await schedule.stop();
    } finally {
      await lease.release();
    }
  }

  const writing = (async () => {
    while (!ending.signal.aborted) {
      try {
        await writeOnce();
      } catch (error) {
        logger.error({ err: error }, 'lost the writer lease; back to standby');
        await note.report({ role: 'stands_by', error: (error as Error).message });
        await setTimeout(leaseTimes.look, undefined, { signal: ending.signal }).catch(() => undefined);
      }
    }
  })();
  return {
    // A machine that stands by has nothing to catch up on.
    caughtUp: Promise.resolve(),
    async stop() {
      ending.abort();
      await writing;
      await note.forget();
      lock.release();
      store[Symbol.dispose]();
    },
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return signal.aborted
    ? Promise.resolve()
    : new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
