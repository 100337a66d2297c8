/**
 * Glossary
 *
 * - *Run*: one pass of a pipeline over what has arrived, with one as-of time. It has a row in the run ledger.
 * - *Stage*: one step of a run, such as ingest or publish. Stages meet only through tables and files.
 * - *As-of* (`T`): the moment the figures are true for. Given by `--as-of`, else the clock read once at the run's
 *   start. Nothing in a stage or a SQL model reads the clock for it.
 * - *Wall clock*: the clock at the run's start, for what is about the real world: when rows were written, and
 *   which timestamps lie in the future. Equal to as-of unless `--as-of` was given.
 * - *Runner*: what calls stages in order and does timing, the run ledger, progress and locking, so no stage does.
 */
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import type { Settings } from '../../kit/config/settings.ts';
import type { Effects } from '../../kit/files/effects.ts';
import { momentOfMilliseconds } from '../../kit/time/moment.ts';
import type { Moment } from '../../kit/time/moment.ts';
import type { Logger } from '../../kit/logging/log.ts';
import type { Progress } from '../../kit/logging/progress.ts';

/** What every stage of a run is given. `dateOf` in `time/moment.ts` turns its moments into a `Date`. */
export interface Run {
  readonly runId: number;
  /** `T`, with microseconds. */
  readonly asOf: Moment;
  /** The clock at the run's start, in whole milliseconds. */
  readonly wallClock: Moment;
  readonly data: DataDirectory;
  readonly settings: Settings;
  readonly logger: Logger;
  readonly progress: Progress;
  readonly effects: Effects;
  /** Aborted once the run shall end. The runner asks between stages, a stage where it waits for others for long. */
  readonly stop?: AbortSignal | undefined;
}

/**
 * One step of a run. What it needs of other stages it reads from tables and files; `Input` is what the pipeline hands
 * it.
 */
export interface Stage<Input, Output> {
  /** A verb or noun of the field, such as `ingest`: the name in the run ledger and in `run <stage>`. */
  readonly name: string;
  run(run: Run, input: Input): Promise<Output>;
}

/** Reads the clock once for a run: as-of is what was asked for, else that same reading. */
export function readRunClock(effects: Pick<Effects, 'now'>, asOf?: Moment): Pick<Run, 'asOf' | 'wallClock'> {
  const wallClock = momentOfMilliseconds(effects.now());
  return { asOf: asOf ?? wallClock, wallClock };
}
