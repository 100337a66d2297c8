import { setTimeout } from 'node:timers/promises';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import type { Settings } from '../../kit/config/settings.ts';
import { WarehouseBusyError } from '../../kit/errors/errors.ts';
import { realEffects } from '../../kit/files/effects.ts';
import type { ProcessLock } from '../../kit/files/process-lock.ts';
import type { Logger } from '../../kit/logging/log.ts';
import { RepeatedFailure } from '../../kit/logging/repeated-failure.ts';
import { backoffWait } from '../../kit/time/backoff.ts';
import { writerEpochVariable } from '../../pipeline/runs/held-lease.ts';
import { forgetRefusedRuns } from '../../pipeline/runs/refused-runs.ts';
import { RoleNote, type ReportedRole } from '../../pipeline/runs/storage-role.ts';
import { withWriterLock } from '../../pipeline/runs/writer-lock.ts';
import { ConfigurationComparison } from './configuration.ts';
import { WriterLease } from './lease.ts';
import { ObjectStore } from './object-store.ts';
import { readPointer, type StoredPointer } from './pointer.ts';
import { assertFitStorage, syncFromStorage, takeEpoch, type StorageSync } from './writer/sync-from-storage.ts';
import { readSyncState } from './writer/sync-state.ts';

/** A schedule that runs, and can be stopped. */
interface RunningSchedule {
  readonly caughtUp: Promise<void>;
  stop(): Promise<void>;
}

/** A schedule that writes to storage. */
interface WritingSchedule extends RunningSchedule {
  /** Publishes, once it has stopped and while the lease is held, what the next writer has to know. */
  handOver(): Promise<void>;
}

/**
 * A schedule of several on one storage: it is on standby while another writes, and begins once that has released its
 * lease or stopped renewing it. Its processes find its epoch in their environment. Holds `lock` until it ends, on
 * standby, too: by it `status` knows that it lives. Throws `StorageError` where storage is not fit for several writers.
 */
export async function openLeasedSchedule(
  data: DataDirectory,
  settings: Settings & { storage: NonNullable<Settings['storage']> },
  logger: Logger,
  lock: ProcessLock,
  open: (environment: NodeJS.ProcessEnv) => Promise<WritingSchedule>,
  watchRole: (role: ReportedRole) => void = () => undefined,
): Promise<RunningSchedule> {
  const effects = realEffects;
  const note = new RoleNote(data.scheduleRoleFile, settings.storage.url, { effects, logger });
  let store: ObjectStore | undefined;
  try {
    store = await ObjectStore.open(settings.storage);
    const sync = { data, settings, logger, effects, store };
    await assertFitStorage(sync);
    return leasedSchedule(sync, note, lock, open, watchRole);
  } catch (error) {
    await note.reportError((error as Error).message);
    store?.[Symbol.dispose]();
    lock.release();
    throw error;
  }
}

/** Waits after failures, as the disk's or a version's: each try may fetch a whole state in vain. */
const bringing = { first: 2_000, max: 30_000 };
/** A standby writes within a minute of the writer's end, of which the lease takes most. */
const taking = { first: 2_000, max: 10_000 };

/** What a machine on standby does at each look, while another writes. */
export class StorageStandby {
  readonly #sync: StorageSync & { settings: Settings };
  readonly #comparison: ConfigurationComparison;
  readonly #failure = new RepeatedFailure();
  readonly #now: () => number;
  #known: StoredPointer | undefined;
  /** Failures in a row, and the steady time of the next try. */
  #failures = 0;
  #retryAt = 0;

  /** `now`: a clock that nobody sets, in milliseconds. */
  constructor(sync: StorageSync & { settings: Settings }, now: () => number = () => performance.now()) {
    this.#sync = sync;
    this.#comparison = new ConfigurationComparison(sync.data);
    this.#now = now;
  }

  /**
   * Brings what the writer has published, so that a takeover has little to fetch and `start` serves what is new. Gives
   * why it cannot.
   */
  async keepUp(): Promise<string | undefined> {
    const { data, logger, effects, store } = this.#sync;
    if (this.#now() < this.#retryAt) return this.#failure.message;
    try {
      const stored = await readPointer(store, this.#known);
      if (this.#isNews(stored)) await this.#bring();
      this.#known = stored;
      this.#failure.pass();
      this.#failures = 0;
      if (stored !== undefined) await this.#comparison.note({ effects, logger }, store.url, stored.pointer);
      // The state here is the writer's now, so refused runs of this machine no longer matter.
      await forgetRefusedRuns({ data, effects, logger });
    } catch (error) {
      if (error instanceof WarehouseBusyError) return this.#failure.message;
      const { message } = error as Error;
      if (this.#failure.isNew(message))
        logger.warn({ storage: store.url }, `this standby cannot bring what storage has; will retry: ${message}`);
      this.#retryAt = this.#now() + backoffWait(bringing, ++this.#failures);
    }
    return this.#failure.message;
  }

  /** Where nothing was published yet, there is nothing to be brought. */
  #isNews(stored: StoredPointer | undefined): boolean {
    const { data, store } = this.#sync;
    return stored === undefined ? Boolean(readSyncState(data, store.url)?.stored) : stored !== this.#known;
  }

  async #bring(): Promise<void> {
    const { data, settings, logger, effects } = this.#sync;
    // A run by hand has the lock: what is here is its business until the next look.
    const now = { ...settings, lock_wait_seconds: 0 };
    await withWriterLock('schedule', { data, settings: now, logger, effects }, () => syncFromStorage(this.#sync));
  }
}

/** Ends `lock`, `note` and the store of `sync` with itself. */
function leasedSchedule(
  sync: StorageSync & { settings: Settings },
  note: RoleNote,
  lock: ProcessLock,
  open: (environment: NodeJS.ProcessEnv) => Promise<WritingSchedule>,
  watchRole: (role: ReportedRole) => void,
): RunningSchedule {
  const { data, settings, logger, effects, store } = sync;
  const ending = new AbortController();
  const epochTaken = (assertHeld: () => Promise<void>) =>
    withWriterLock('schedule', { data, settings, logger, effects }, () => takeEpoch(sync, assertHeld));

  const standby = new StorageStandby(sync);

  async function writeOnce(): Promise<void> {
    const leasing = {
      data,
      store,
      logger,
      effects,
      standBy: () => standby.keepUp(),
      reportRole: (role: ReportedRole) => {
        watchRole(role);
        return note.report({ ...role, clockOffset: store.clockOffset });
      },
    };
    const lease = await WriterLease.acquire(leasing, epochTaken, ending.signal);
    if (lease === undefined) return;
    try {
      const schedule = await open({ [writerEpochVariable]: String(lease.epoch) });
      await aborted(AbortSignal.any([ending.signal, lease.lost, lease.unfit]));
      await schedule.stop();
      if (!lease.lost.aborted) await schedule.handOver();
    } finally {
      await lease.release();
    }
  }

  const writing = (async () => {
    const failure = new RepeatedFailure();
    let failures = 0;
    while (!ending.signal.aborted) {
      try {
        await writeOnce();
        failure.pass();
        failures = 0;
      } catch (error) {
        const { message } = error as Error;
        if (failure.isNew(message))
          logger.error(
            { err: error, storage: store.url },
            'this schedule cannot write now: it is on standby and will retry',
          );
        await note.report({ role: 'stands_by', error: message });
        const wait = backoffWait(taking, ++failures);
        await setTimeout(wait, undefined, { signal: ending.signal }).catch(() => undefined);
      }
    }
  })();
  return {
    // A machine on standby has nothing to catch up on.
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
