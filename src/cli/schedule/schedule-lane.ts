import type { Plan } from '../../kit/config/settings.ts';
import { exitCode, OfferlineError } from '../../kit/errors/errors.ts';
import { momentOfMilliseconds, type Moment } from '../../kit/time/moment.ts';
import type { Logger } from '../../kit/logging/log.ts';
import type { CronTimes } from '../../kit/time/cron-times.ts';

/** A pipeline that the schedule starts. */
export interface ScheduledPipeline {
  /** Name in the run ledger. */
  name: string;
  plan: Plan;
  /** Setting with its cron expression, for errors; `schedule.<name>` of offerline.json where not given. */
  key?: string;
  /**
   * The newest moment that needs no run any more, from the run ledger, in milliseconds since the epoch; undefined where
   * there never was one.
   */
  coveredUntil: number | undefined;
  /** Cheap: asked at each of its moments, whether a run would have anything to do. */
  isDue?: (() => boolean | Promise<boolean>) | undefined;
  /** Begins to watch for what a run takes in, and calls `onNews` between the moments of the plan. */
  watch?: ((onNews: () => void) => { stop(): Promise<void> }) | undefined;
}

/**
 * A run of a pipeline, for a moment of its schedule. `asOf` only where the moment has passed and figures as of then are
 * wanted.
 */
export interface ScheduledRun {
  pipeline: string;
  scheduledAt: Moment;
  asOf?: Moment;
}

/** Runs a pipeline to its end; gives its exit code, or the signal that ended it, or null where it was not begun. */
export type StartRun = (run: ScheduledRun) => Promise<number | NodeJS.Signals | null>;

/** A tick may come this much before its moment. Less than the second that moments are apart at least. */
const earlyMilliseconds = 500;
/** A moment that comes later than this passed while the machine slept, or the clock was set ahead. */
const lateMilliseconds = 60_000;
/** The newest moment is looked for so far back: a plan of once a year has one. Milliseconds. */
const lookBack = 366 * 86_400_000;

interface Waiting {
  time: number;
  /** True where the time passed while no schedule ran, or the machine slept. */
  isCatchUp: boolean;
}

/**
 * A pipeline's part of the schedule: decides which of its moments get a run, one run at a time unless the plan lets
 * them begin beside each other. All times in milliseconds since the epoch.
 */
export class ScheduleLane {
  readonly #pipeline: ScheduledPipeline;
  readonly #times: CronTimes;
  readonly #start: StartRun;
  readonly #logger: Logger;
  readonly #waiting: Waiting[] = [];
  /** Moments up to here have been decided on. */
  #handledUntil: number;
  #working: Promise<void> | undefined;
  /** Runs beside that one. */
  readonly #beside = new Set<Promise<void>>();
  #stopped = false;

  constructor(pipeline: ScheduledPipeline, times: CronTimes, start: StartRun, logger: Logger) {
    this.#pipeline = pipeline;
    this.#times = times;
    this.#start = start;
    this.#logger = logger;
    this.#handledUntil = pipeline.coveredUntil ?? 0;
  }

  /**
   * Catches up with what passed until `now`, as the plan says: a run for each moment, one for the newest, or none.
   * A pipeline that never ran has missed the newest moment alone, or now where its schedule has none yet. Resolves when
   * these runs have ended.
   */
  begin(now: number): Promise<void> {
    const { name, plan, coveredUntil } = this.#pipeline;
    const missed = coveredUntil === undefined ? [this.#newestUntil(now) ?? now] : this.#momentsUntil(now);
    this.#decideOn(missed, now);
    const kept = keptBy(plan.catch_up, missed);
    if (coveredUntil !== undefined && missed.length > 0) {
      this.#logger.info(
        { pipeline: name, runs: kept.length, catch_up: plan.catch_up },
        'moments of the schedule passed without a scheduler',
      );
    }
    this.#catchUp(kept);
    return this.#work();
  }

  /** A moment of the schedule has come. */
  tick(now: number): void {
    const latest = now + earlyMilliseconds;
    this.#followClockBack(latest);
    const passed = this.#momentsUntil(latest);
    this.#decideOn(passed, now);
    const time = passed.at(-1);
    if (time === undefined || this.#stopped) return;
    if (this.#pipeline.plan.catch_up === 'none' && now - time > lateMilliseconds) return;
    // There are others where the plan asks for all, and the machine slept or the clock was set.
    this.#catchUp(passed.slice(0, -1));
    const { overlap } = this.#pipeline.plan;
    if (this.#working !== undefined && overlap === 'beside') {
      this.#beginBeside(time);
      return;
    }
    if (this.#working !== undefined && overlap === 'skip') {
      this.#logger.info(
        { pipeline: this.#pipeline.name },
        'the run before is still under way; this moment of the schedule is left out',
      );
      return;
    }
    this.#queue(time);
  }

  /** Starts a run as of now, or right after the one under way: new data has come between two moments. */
  wake(now: number): void {
    if (!this.#stopped) this.#queue(now);
  }

  /** No further runs. Resolves when those under way have ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all([this.#working, ...this.#beside]);
  }

  /** Queues a run for each of these moments, which may be more than arguments of a call. */
  #catchUp(moments: readonly number[]): void {
    for (const time of moments) this.#waiting.push({ time, isCatchUp: true });
  }

  /** Queues one run for all moments that wait. */
  #queue(time: number): void {
    if (this.#waiting.at(-1)?.isCatchUp === false) this.#waiting.pop();
    this.#waiting.push({ time, isCatchUp: false });
    void this.#work();
  }

  #beginBeside(time: number): void {
    const run = this.#tryRun({ time, isCatchUp: false }).finally(() => this.#beside.delete(run));
    this.#beside.add(run);
  }

  /** Moments in (handled, until], or the newest of them alone where the plan asks for no more. */
  #momentsUntil(until: number): number[] {
    if (this.#pipeline.plan.catch_up === 'all') return [...this.#times.between(this.#handledUntil, until)];
    const newest = this.#times.newest(this.#handledUntil, until);
    return newest === undefined ? [] : [newest];
  }

  /** The newest moment of the schedule up to this time, decided on or not. */
  #newestUntil(time: number): number | undefined {
    return this.#times.newest(time - lookBack, time);
  }

  /** Marks all up to now, and these moments, which may be a little ahead, as decided on. */
  #decideOn(moments: readonly number[], now: number): void {
    this.#handledUntil = Math.max(now, this.#handledUntil, ...moments.slice(-1));
  }

  /** Where the clock was set back, moments that were decided on are ahead, and would silence all up to there. */
  #followClockBack(latest: number): void {
    if (this.#handledUntil > latest) this.#handledUntil = (this.#newestUntil(latest) ?? latest) - 1;
  }

  #work(): Promise<void> {
    return (this.#working ??= this.#runWaiting().finally(() => (this.#working = undefined)));
  }

  async #runWaiting(): Promise<void> {
    while (!this.#stopped) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      await this.#tryRun(next);
    }
  }

  async #tryRun(next: Waiting): Promise<void> {
    try {
      await this.#run(next);
    } catch (error) {
      this.#logger.error(
        // An operator's mistake is one line; a stack would not help to mend it.
        {
          pipeline: this.#pipeline.name,
          ...(error instanceof OfferlineError ? { reason: error.message } : { err: error }),
        },
        'a scheduled run could not be started; its next moment tries again',
      );
    }
  }

  async #run({ time, isCatchUp }: Waiting): Promise<void> {
    const { name, plan, isDue } = this.#pipeline;
    if (isDue !== undefined && !(await isDue())) return;
    const scheduledAt = momentOfMilliseconds(time);
    // The newest of the missed moments is as of now, like any other run: that is what readers wait for.
    const ofThePast = isCatchUp && plan.catch_up === 'all' && this.#waiting.length > 0;
    const end = await this.#start({ pipeline: name, scheduledAt, ...(ofThePast ? { asOf: scheduledAt } : {}) });
    if (this.#stopped || end === exitCode.done) return;
    if (end === exitCode.busy)
      this.#logger.warn(
        { pipeline: name },
        'a scheduled run found another at work for as long as it may wait; its next moment tries again',
      );
    else
      this.#logger.error(
        { pipeline: name, ...(typeof end === 'string' ? { signal: end } : { exit_code: end }) },
        'a scheduled run failed; what was good stays, and its next moment tries again',
      );
  }
}

/** The moments that get a run, of those that passed without a schedule. */
function keptBy(catchUp: Plan['catch_up'], missed: number[]): number[] {
  if (catchUp === 'all') return missed;
  return catchUp === 'last' ? missed.slice(-1) : [];
}
