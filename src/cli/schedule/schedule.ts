import { isDeepStrictEqual } from 'node:util';
import cron from 'node-cron';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { exitCode, OfferlineError } from '../../kit/errors/errors.ts';
import type { Logger } from '../../kit/logging/log.ts';
import { acquireProcessLock, type ProcessLock } from '../../kit/files/process-lock.ts';
import { CronTimes } from '../../kit/time/cron-times.ts';
import { ScheduleLane, type ScheduledPipeline, type StartRun } from './schedule-lane.ts';

/** Another scheduler works on the data directory. */
class SchedulerBusyError extends OfferlineError {
  constructor(message: string) {
    super(message, exitCode.busy);
  }
}

/** Interval between looks at the clock, and the jump that only setting the clock explains. Milliseconds. */
const watchMilliseconds = 1000;
const clockWasSetMilliseconds = 60_000;

/** Clock and ticks of a schedule; a test hands in its own. */
export interface ScheduleEffects {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `onTick` at the moments of a cron expression, UTC, until it is stopped. */
  tick(expression: string, onTick: () => void): { stop(): void | Promise<void> };
}

export const realScheduleEffects: ScheduleEffects = {
  now: () => Date.now(),
  tick(expression, onTick) {
    const begin = () => {
      const started = cron.schedule(expression, onTick, { timezone: 'UTC' });
      // It passes over a moment that it is more than a second late for, as where the process was busy or paused.
      started.on('execution:missed', () => onTick());
      return started;
    };
    let task = begin();
    let before = Date.now();
    let wasAhead = false;
    // node-cron waits for the moment that it found last: after the clock was set back, until it is reached again, and
    // after it was set ahead it goes through all moments between, while nothing else is done.
    const watch = setInterval(() => {
      const now = Date.now();
      const isAhead = now > before + clockWasSetMilliseconds;
      if (now < before || isAhead) {
        void task.stop();
        task = begin();
      }
      // The new task begins after the moments in between. A clock that is right again by the next look began nothing.
      if (wasAhead && now >= before) onTick();
      wasAhead = isAhead;
      before = now;
    }, watchMilliseconds).unref();
    return {
      async stop() {
        clearInterval(watch);
        await task.stop();
      },
    };
  },
};

export interface Schedule {
  /** Resolves when the runs that were missed before the start have ended. */
  readonly caughtUp: Promise<void>;
  /** No further runs; waits for those under way. */
  stop(): Promise<void>;
}

/** A schedule whose pipelines change. */
export interface ChangingSchedule extends Schedule {
  /**
   * Begins pipelines that are new, or have another plan, and ends those that are not among these. Throws `UsageError`
   * for a bad expression, and changes nothing then.
   */
  replan(pipelines: readonly ScheduledPipeline[]): void;
}

/**
 * Starts pipelines at the moments of their plans, UTC, each pipeline one run at a time. node-cron is the tick; which
 * moments passed without a run comes from the run ledger, so an outage is caught up as each plan says.
 * Throws `SchedulerBusyError` where another scheduler works on the data directory, `UsageError` for a bad expression.
 */
export async function startSchedule(
  data: DataDirectory,
  pipelines: readonly ScheduledPipeline[],
  start: StartRun,
  logger: Logger,
  effects: ScheduleEffects = realScheduleEffects,
): Promise<ChangingSchedule> {
  const laneOf = (pipeline: ScheduledPipeline) => new MovingLane(pipeline, start, logger, effects);
  let lanes = pipelines.map(laneOf);
  const lock = await acquireSchedulerLock(data.scheduleLockFile);
  const ended: Promise<void>[] = [];
  let isStopped = false;
  return {
    caughtUp: Promise.all(lanes.map((lane) => lane.begin())).then(() => undefined),
    replan(wanted) {
      if (isStopped) return;
      const kept = lanes.filter((lane) => wanted.some((pipeline) => lane.isOf(pipeline)));
      const added = wanted.filter((pipeline) => !kept.some((lane) => lane.isOf(pipeline))).map(laneOf);
      for (const lane of lanes) if (!kept.includes(lane)) ended.push(lane.stop());
      for (const lane of added) void lane.begin();
      lanes = [...kept, ...added];
    },
    async stop() {
      isStopped = true;
      await Promise.all([...ended, ...lanes.map((lane) => lane.stop())]);
      lock.release();
    },
  };
}

/** A lane with the ticks of its plan, and what it watches. Throws `UsageError` for a bad expression. */
class MovingLane {
  readonly #pipeline: ScheduledPipeline;
  readonly #effects: ScheduleEffects;
  readonly #times: CronTimes;
  readonly #lane: ScheduleLane;
  readonly #moving: { stop(): void | Promise<void> }[] = [];

  constructor(pipeline: ScheduledPipeline, start: StartRun, logger: Logger, effects: ScheduleEffects) {
    this.#pipeline = pipeline;
    this.#effects = effects;
    this.#times = new CronTimes(pipeline.plan.cron, keyOf(pipeline));
    this.#lane = new ScheduleLane(pipeline, this.#times, start, logger);
  }

  isOf({ name, plan }: ScheduledPipeline): boolean {
    return name === this.#pipeline.name && isDeepStrictEqual(plan, this.#pipeline.plan);
  }

  /** Resolves when the runs that were missed have ended. */
  begin(): Promise<void> {
    const effects = this.#effects;
    const caughtUp = this.#lane.begin(effects.now());
    this.#moving.push(effects.tick(this.#times.expression, () => this.#lane.tick(effects.now())));
    const watch = this.#pipeline.watch?.(() => this.#lane.wake(effects.now()));
    if (watch !== undefined) this.#moving.push(watch);
    return caughtUp;
  }

  /** Resolves when the run under way has ended. */
  async stop(): Promise<void> {
    const ended = this.#lane.stop();
    for (const each of this.#moving) await each.stop();
    await ended;
  }
}

/** Throws `SchedulerBusyError` where another scheduler has it. */
export function acquireSchedulerLock(lockFile: string): Promise<ProcessLock> {
  return acquireProcessLock(
    {
      name: 'scheduler',
      lockFile,
      busy: (message) => new SchedulerBusyError(`${message} One scheduler works on a data directory.`),
    },
    { command: 'schedule', waitSeconds: 0, onWaiting: () => undefined },
  );
}

/** The next moments of a plan, in milliseconds since the epoch. */
export function nextMoments(
  pipeline: Pick<ScheduledPipeline, 'name' | 'plan' | 'key'>,
  now: number,
  count: number,
): number[] {
  const times = new CronTimes(pipeline.plan.cron, keyOf(pipeline));
  const next: number[] = [];
  for (let time = times.next(now); time !== undefined && next.length < count; time = times.next(time)) next.push(time);
  return next;
}

function keyOf({ name, key }: Pick<ScheduledPipeline, 'name' | 'key'>): string {
  return key ?? `offerline.json: schedule.${name}`;
}
