import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import type { Effects } from '../../kit/files/effects.ts';
import type { Logger } from '../../kit/logging/log.ts';
import { momentOfMilliseconds } from '../../kit/time/moment.ts';
import { leaseTimes, realLeaseClocks, writeHeldLease, type LeaseClocks } from '../../pipeline/runs/held-lease.ts';
import { clockOffsetAdvice, describeClockOffset } from '../../pipeline/runs/storage-clock.ts';
import { findLease, isLeaseOf, writeLease, type FoundLease } from './lease-document.ts';
import { LostSwapError, StorageError, type ObjectStore } from './object-store.ts';
import type { ReportedRole } from '../../pipeline/runs/storage-role.ts';

export interface Leasing {
  data: DataDirectory;
  store: ObjectStore;
  logger: Logger;
  effects: Effects;
  clocks?: LeaseClocks;
  times?: typeof leaseTimes;
  /** Called at each look on standby. Returns why what the writer publishes cannot be brought here. */
  standBy?: () => Promise<string | undefined>;
  /** Called at each look and renewal: the role, the writer, and the error of the last access to storage. */
  reportRole?: (role: ReportedRole) => Promise<void>;
}

/** The right of one `schedule` among all on a storage to write. */
export class WriterLease {
  /** Aborted once another may have taken over. */
  readonly lost: AbortSignal;
  /** Aborted once the holder should stop its work and release the lease, since its clock is wrong. */
  readonly unfit: AbortSignal;
  readonly #leasing: Required<Leasing>;
  readonly #losing = new AbortController();
  readonly #yielding = new AbortController();
  readonly #ending = new AbortController();
  readonly #renewing: Promise<void>;
  readonly #id: string;
  #etag: string;
  #renewed: LeaseMoment;
  #epoch: number | undefined;
  /** Steady time since which this machine's clock differs from storage's. */
  #wrongSince: number | undefined;
  #publishing: Promise<void> = Promise.resolve();

  /**
   * Waits until no other schedule writes and this machine's clock is near storage's, then takes the lease. `takeEpoch`
   * makes the former writer lose its next swap and returns the new epoch; the lease is renewed meanwhile, and released
   * where that fails. `assertHeld` throws `LostSwapError` where another schedule holds the lease. Returns undefined
   * once `stop` is aborted.
   */
  static async acquire(
    leasing: Leasing,
    takeEpoch: (assertHeld: () => Promise<void>) => Promise<number>,
    stop: AbortSignal,
  ): Promise<WriterLease | undefined> {
    const nothing = async () => undefined;
    const all = { clocks: realLeaseClocks, times: leaseTimes, standBy: nothing, reportRole: nothing, ...leasing };
    const watch = new LeaseWatch(all);
    while (!stop.aborted) {
      try {
        const seen = await watch.look();
        if (seen.mayBeTaken) return await WriterLease.#take(all, seen.found, takeEpoch);
      } catch (error) {
        if (!(error instanceof StorageError)) throw error;
        // Where another was quicker, the next look finds the new holder.
        if (!(error instanceof LostSwapError)) await watch.fail(error);
      }
      await setTimeout(all.times.look, undefined, { signal: stop }).catch(() => undefined);
    }
    return undefined;
  }

  static async #take(
    leasing: Required<Leasing>,
    found: FoundLease | undefined,
    takeEpoch: (assertHeld: () => Promise<void>) => Promise<number>,
  ): Promise<WriterLease> {
    const { store, logger, clocks } = leasing;
    if (found?.lease?.released === false)
      logger.warn({ holder: found.lease.holder }, 'lease holder stopped renewing; taking over as writer');
    const renewed = momentOf(clocks);
    const id = randomUUID();
    const etag = await writeLease(store, id, found === undefined ? 'none' : { etag: found.etag });
    return new WriterLease(leasing, id, etag, renewed).#begun(takeEpoch);
  }

  private constructor(leasing: Required<Leasing>, id: string, etag: string, renewed: LeaseMoment) {
    this.#leasing = leasing;
    this.#id = id;
    this.#etag = etag;
    this.#renewed = renewed;
    this.lost = this.#losing.signal;
    this.unfit = this.#yielding.signal;
    this.#renewing = this.#renew();
  }

  get epoch(): number {
    return this.#epoch ?? 0;
  }

  async #begun(takeEpoch: (assertHeld: () => Promise<void>) => Promise<number>): Promise<this> {
    const { logger, store, reportRole } = this.#leasing;
    try {
      this.#epoch = await takeEpoch(() => this.#assertHeld());
      await this.#publishToProcesses();
      await reportRole({ role: 'writes' });
    } catch (error) {
      await this.release();
      throw error;
    }
    logger.info({ storage: store.url, epoch: this.#epoch }, 'this schedule writes now');
    return this;
  }

  /** Throws `LostSwapError` where another took over: a process that was stopped for a while does not know it yet. */
  async #assertHeld(): Promise<void> {
    const { store } = this.#leasing;
    if (isLeaseOf(this.#id, await findLease(store))) return;
    throw new LostSwapError(`another schedule has taken over ${store.url}`);
  }

  async #renew(): Promise<void> {
    const { store, logger, clocks, times, reportRole } = this.#leasing;
    let logged: string | undefined;
    const reportWriting = async (error: string | null) => {
      if (this.#epoch !== undefined) await reportRole({ role: 'writes', error });
    };
    const left = () => this.#renewed.steady + times.believed - clocks.steady();
    for (;;) {
      await setTimeout(times.renewal, undefined, { signal: this.#ending.signal }).catch(() => undefined);
      if (this.#ending.signal.aborted) return;
      const began = momentOf(clocks);
      try {
        // After a long pause another may have taken over and let go again: the write shows it.
        const giveUp = AbortSignal.any([this.#ending.signal, AbortSignal.timeout(Math.max(left(), times.look))]);
        this.#etag = await this.#writeAgain(giveUp);
        this.#renewed = began;
        logged = undefined;
        this.#checkClock();
        await this.#publishToProcesses();
        await reportWriting(null);
      } catch (error) {
        const { message } = error as Error;
        if (error instanceof LostSwapError) return this.#lose(message, null);
        await reportWriting(message);
        if (!(error instanceof StorageError)) logger.error({ err: error }, 'the lease cannot be renewed');
        else if (logged !== message && !this.#ending.signal.aborted)
          logger.warn({ storage: store.url }, `the lease cannot be renewed: ${message}`);
        logged = message;
      }
      if (left() <= 0) return this.#lose('the lease could not be renewed for too long', logged ?? null);
    }
  }

  /**
   * Writes the lease once more; returns its ETag. Throws `LostSwapError` where another has written it meanwhile, not
   * where that was a renewal of ours whose answer was lost.
   */
  async #writeAgain(signal: AbortSignal): Promise<string> {
    const { store } = this.#leasing;
    try {
      return await writeLease(store, this.#id, { etag: this.#etag }, { signal });
    } catch (error) {
      if (!(error instanceof LostSwapError)) throw error;
      const found = await findLease(store, signal);
      if (found === undefined || !isLeaseOf(this.#id, found)) throw error;
      return writeLease(store, this.#id, { etag: found.etag }, { signal });
    }
  }

  /**
   * A run with a wrong clock is refused (`openRunOnStorage`), so that a holder with one keeps others from work that
   * they can do. A clock that is set within the minute costs nothing.
   */
  #checkClock(): void {
    const { store, logger, clocks, times } = this.#leasing;
    const wrongClock = describeClockOffset(store.clockOffset, store.url);
    if (wrongClock === undefined) this.#wrongSince = undefined;
    else this.#wrongSince ??= clocks.steady();
    if (clocks.steady() - (this.#wrongSince ?? Infinity) < times.wrongClock || this.unfit.aborted) return;
    logger.error(
      { storage: store.url, epoch: this.#epoch },
      `${wrongClock}: this schedule stops and gives up the writer lease to any other machine; ${clockOffsetAdvice}`,
    );
    this.#yielding.abort();
  }

  /**
   * Writes, for this schedule's processes, the moment until which they may deliver; nothing before the epoch is known.
   * Writes follow one another: a renewal may come during the first.
   */
  async #publishToProcesses(): Promise<void> {
    const { data, effects, times } = this.#leasing;
    const epoch = this.#epoch;
    if (epoch === undefined) return;
    const before = this.#publishing;
    const publish = async () => {
      await before;
      const { steady, wall } = this.#renewed;
      const until = { steady: steady + times.believed, wall: wall + times.believed };
      await writeHeldLease(data, { epoch, until }, effects);
    };
    const published = publish();
    this.#publishing = published.catch(() => undefined);
    await published;
  }

  /** `error`: that of the last access to storage, where it is the reason. */
  async #lose(reason: string, error: string | null): Promise<void> {
    this.#leasing.logger.warn(
      { storage: this.#leasing.store.url, epoch: this.#epoch },
      `another schedule may write now (${reason}): this one stops and is on standby`,
    );
    this.#losing.abort();
    await this.#leasing.reportRole({ role: 'stands_by', error });
  }

  /** Lets another take over at once. */
  async release(): Promise<void> {
    this.#ending.abort();
    await this.#renewing;
    if (this.lost.aborted) return;
    const { store, logger, times } = this.#leasing;
    try {
      const signal = AbortSignal.timeout(times.believed);
      // The renewal that the end broke off may have been written.
      const found = await findLease(store, signal);
      const etag = found !== undefined && isLeaseOf(this.#id, found) ? found.etag : this.#etag;
      await writeLease(store, this.#id, { etag }, { released: true, signal });
    } catch (error) {
      logger.warn(`the lease is not given up, others wait for a while: ${(error as Error).message}`);
    }
  }
}

/** What a schedule on standby sees of the lease, look after look, by this machine's clocks. */
class LeaseWatch {
  readonly #leasing: Required<Leasing>;
  /** The lease as it was last renewed, and when that was first seen. */
  #seen: { etag: string; since: number; at: string } | undefined;
  #logged: string | undefined;

  constructor(leasing: Required<Leasing>) {
    this.#leasing = leasing;
  }

  /** Looks at the lease; logs and reports who writes where it is not to be taken. Throws `StorageError`. */
  async look(): Promise<{ mayBeTaken: boolean; found: FoundLease | undefined }> {
    const { store, clocks, times, standBy, reportRole } = this.#leasing;
    const found = await findLease(store);
    if (found !== undefined && this.#seen?.etag !== found.etag)
      this.#seen = { etag: found.etag, since: clocks.steady(), at: momentOfMilliseconds(clocks.wall()) };
    const isSilent = clocks.steady() - (this.#seen?.since ?? 0) >= times.silence;
    const isFree = found === undefined || found.lease?.released === true || isSilent;
    const wrongClock = describeClockOffset(store.clockOffset, store.url);
    if (isFree && wrongClock === undefined) return { mayBeTaken: true, found };
    const writer = isFree ? null : (found?.lease?.holder ?? 'another schedule');
    if (wrongClock === undefined) this.#logOnce(`standing by: ${writer} writes`);
    else this.#logOnce(`standing by, this schedule does not take the lease: ${wrongClock}; ${clockOffsetAdvice}`);
    const renewal = isFree || this.#seen === undefined ? {} : { renewalSeenAt: this.#seen.at };
    await reportRole({ role: 'stands_by', writer, ...renewal, error: (await standBy()) ?? null });
    return { mayBeTaken: false, found };
  }

  /** Logs and reports that the lease cannot be looked at, or not be taken. */
  async fail({ message }: StorageError): Promise<void> {
    this.#logOnce(`standing by: ${message}`);
    await this.#leasing.reportRole({ role: 'stands_by', error: message });
  }

  #logOnce(message: string): void {
    const { store, logger } = this.#leasing;
    if (this.#logged !== message) logger.info({ storage: store.url }, message);
    this.#logged = message;
  }
}

type LeaseMoment = { steady: number; wall: number };

function momentOf(clocks: LeaseClocks): LeaseMoment {
  return { steady: clocks.steady(), wall: clocks.wall() };
}
