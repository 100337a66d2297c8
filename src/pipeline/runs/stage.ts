/**
 * Glossary
 *
 * - *Run*: one pass of a pipeline over what has arrived, with one as-of time. It has a row in the run ledger.
 * - *Stage*: one step of a run, such as ingest or publish. Stages meet only through tables and files.
 * - *As-of* (`T`): the moment that the figures are for. Given by `--as-of`, else the clock at the run's start. No
 *   stage or SQL model reads the clock for it.
 * - *Wall clock*: the clock at the run's start, for facts of the real world: when rows were written, and which
 *   timestamps are in the future. Equal to as-of unless `--as-of` was given.
 * - *Runner*: calls stages in order, and does timing, the run ledger, progress and locking for them.
 */
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import type { Settings } from '../../kit/config/settings.ts';
import type { Effects } from '../../kit/files/effects.ts';
import { momentOfMilliseconds } from '../../kit/time/moment.ts';
import type { Moment } from '../../kit/time/moment.ts';
import type { Logger } from '../../kit/logging/log.ts';
import type { Progress } from '../../kit/logging/progress.ts';

/** Input of every stage of a run. `dateOf` in `kit/time/moment.ts` turns its moments into a `Date`. */
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
  /** Aborted when the run is asked to end. The runner checks it between stages, a stage during long waits. */
  readonly stop?: AbortSignal | undefined;
}

/** Step of a run. It reads results of other stages from tables and files; the pipeline passes `Input`. */
export interface Stage<Input, Output> {
  /** A verb or noun of the field, such as `ingest`: the name in the run ledger and in `run <stage>`. */
  readonly name: string;
  run(run: Run, input: Input): Promise<Output>;
}

/** Reads the clock once for a run. As-of is that reading unless one is given. */
export function readRunClock(effects: Pick<Effects, 'now'>, asOf?: Moment): Pick<Run, 'asOf' | 'wallClock'> {
  const wallClock = momentOfMilliseconds(effects.now());
  return { asOf: asOf ?? wallClock, wallClock };
}
