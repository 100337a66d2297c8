import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import type { Effects } from '../../kit/files/effects.ts';
import type { Logger } from '../../kit/logging/log.ts';
import { momentOfMilliseconds } from '../../kit/time/moment.ts';
import { leaseTimes, realLeaseClocks, writeHeldLease, type LeaseClocks } from '../../pipeline/runs/held-lease.ts';
import { clockOffsetAdvice, describeClockOffset } from '../../pipeline/runs/storage-clock.ts';
import { LostSwapError, StorageError, type Condition, type ObjectStore } from './object-store.ts';
import type { ReportedRole } from '../../pipeline/runs/storage-role.ts';

const leaseKey = 'lease.json';
const leaseSchema = z.object({
  /** Name of the schedule, for operators: host and process. */
  holder: z.string(),
  /**
   * Another value with every renewal: others see by their own clocks whether it still changes. It begins with an id of
   * who took the lease, the same in all renewals.
   */
  beat: z.string(),
  /** Given up by itself: nobody has to wait. */
  released: z.boolean(),
});
type Lease = z.output<typeof leaseSchema>;

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
    const { store, logger, clocks, times, reportRole } = all;
    let seen: { etag: string; since: number; at: string } | undefined;
    let logged: string | undefined;
    const logOnce = (message: string) => {
      if (logged !== message) logger.info({ storage: store.url }, message);
      logged = message;
    };
    while (!stop.aborted) {
      try {
        const found = await store.readText(leaseKey);
        if (found !== undefined && seen?.etag !== found.etag)
          seen = { etag: found.etag, since: clocks.steady(), at: momentOfMilliseconds(clocks.wall()) };
        const lease = found === undefined ? undefined : readLease(found.text);
        const isSilent = clocks.steady() - (seen?.since ?? 0) >= times.silence;
        const isFree = found === undefined || lease?.released === true || isSilent;
        const wrongClock = describeClockOffset(store.clockOffset, store.url);
        if (isFree && wrongClock === undefined) {
          if (lease?.released === false)
            logger.warn({ holder: lease.holder }, 'lease holder stopped renewing; taking over as writer');
          const renewed = momentOf(clocks);
          const id = randomUUID();
          const etag = await writeLease(store, id, found === undefined ? 'none' : { etag: found.etag });
          return await new WriterLease(all, id, etag, renewed).#begun(takeEpoch);
        }
        const writer = isFree ? null : (lease?.holder ?? 'another schedule');
        if (wrongClock === undefined) logOnce(`standing by: ${writer} writes`);
        else logOnce(`standing by, this schedule does not take the lease: ${wrongClock}; ${clockOffsetAdvice}`);
        const renewal = isFree || seen === undefined ? {} : { renewalSeenAt: seen.at };
        await reportRole({ role: 'stands_by', writer, ...renewal, error: (await all.standBy()) ?? null });
      } catch (error) {
        if (!(error instanceof StorageError)) throw error;
        if (!(error instanceof LostSwapError)) {
          logOnce(`standing by: ${error.message}`);
          await reportRole({ role: 'stands_by', error: error.message });
        }
      }
      await setTimeout(times.look, undefined, { signal: stop }).catch(() => undefined);
    }
    return undefined;
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
    const found = await store.readText(leaseKey);
    if (found !== undefined && readLease(found.text)?.beat.startsWith(this.#id) === true) return;
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
        this.#etag = await writeLease(store, this.#id, { etag: this.#etag }, { signal: giveUp });
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
      const found = await store.readText(leaseKey, { signal });
      const isOurs = found !== undefined && readLease(found.text)?.beat.startsWith(this.#id) === true;
      const etag = isOurs ? found.etag : this.#etag;
      await writeLease(store, this.#id, { etag }, { released: true, signal });
    } catch (error) {
      logger.warn(`the lease is not given up, others wait for a while: ${(error as Error).message}`);
    }
  }
}

type LeaseMoment = { steady: number; wall: number };

function momentOf(clocks: LeaseClocks): LeaseMoment {
  return { steady: clocks.steady(), wall: clocks.wall() };
}

/** Undefined where somebody else wrote there: then it is as good as held by them, until it is silent for too long. */
function readLease(text: string): Lease | undefined {
  try {
    return leaseSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function writeLease(
  store: ObjectStore,
  id: string,
  condition: Condition,
  { released = false, signal }: { released?: boolean; signal?: AbortSignal } = {},
): Promise<string> {
  const lease: Lease = { holder: `${hostname()}, process ${process.pid}`, beat: `${id} ${randomUUID()}`, released };
  return store.writeText(leaseKey, `${JSON.stringify(lease)}\n`, condition, signal);
}
