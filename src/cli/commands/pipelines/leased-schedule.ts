import { setTimeout } from 'node:timers/promises';
import { withWriterLock } from '../../../../pipelines/run-pipeline.ts';
import type { DataDirectory } from '../../../config/data-directory.ts';
import type { Settings } from '../../../config/settings.ts';
import { WarehouseBusyError } from '../../../errors/errors.ts';
import { realEffects } from '../../../files/effects.ts';
import type { Schedule } from '../../../schedule/schedule.ts';
import { writerEpochVariable } from '../../../storage/held-lease.ts';
import { leaseTimes, WriterLease } from '../../../storage/lease.ts';
import { ObjectStore } from '../../../storage/object-store.ts';
import { assertFitStorage, standOnStorage, takeEpoch } from '../../../storage/writer/stand-on-storage.ts';
import { readPointer } from '../../../storage/pointer.ts';
import type { CommandContext } from '../../context.ts';

/**
 * A schedule of several on one storage: it stands by while another writes, and begins once that has fallen silent or
 * has given up. Its processes are told its epoch. Throws `StorageError` where storage is not fit for several writers.
 */
export async function openLeasedSchedule(
  data: DataDirectory,
  settings: Settings & { storage: NonNullable<Settings['storage']> },
  { console: { logger } }: CommandContext,
  open: (environment: NodeJS.ProcessEnv) => Promise<Schedule>,
): Promise<Schedule> {
  const store = await ObjectStore.open(settings.storage);
  const effects = realEffects;
  const standing = { data, settings, logger, effects, store };
  await assertFitStorage(standing);
  const ending = new AbortController();
  const epochTaken = (assertHeld: () => Promise<void>) =>
    withWriterLock('schedule', { data, settings, logger, effects }, () => takeEpoch(standing, assertHeld));

  let etag: string | undefined;
  let complaint: string | undefined;
  /** Brings what the writer has published, so that a takeover has little to fetch and `start` serves what is new. */
  async function keepUp(): Promise<void> {
    try {
      const stored = await readPointer(store, etag);
      if (stored === undefined) return;
      // A run by hand has the lock: what is here is its business until the next look.
      const now = { ...settings, lock_wait_seconds: 0 };
      await withWriterLock('schedule', { data, settings: now, logger, effects }, () => standOnStorage(standing));
      etag = stored.etag;
      complaint = undefined;
    } catch (error) {
      const { message } = error as Error;
      if (!(error instanceof WarehouseBusyError) && message !== complaint)
        logger.warn({ storage: store.url }, `what is published is not brought here: ${message}`);
      complaint = message;
    }
  }

  async function writeOnce(): Promise<void> {
    const leasing = { data, store, logger, effects, standBy: keepUp };
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
        logger.error({ err: error }, 'the schedule ended; it stands by and begins again');
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
      store[Symbol.dispose]();
    },
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return signal.aborted
    ? Promise.resolve()
    : new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
