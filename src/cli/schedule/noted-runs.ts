import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { exitCode } from '../../kit/errors/errors.ts';
import type { Effects } from '../../kit/files/effects.ts';
import { describeUnreadableNote, type UnreadableNote } from '../../kit/files/note-file.ts';
import type { Logger } from '../../kit/logging/log.ts';
import { isNotedPipeline, noteOutcome, readOutcome } from '../../pipeline/runs/pipeline-outcomes.ts';
import { readRecentRuns } from '../../pipeline/runs/recent-runs.ts';
import { noteRefusedRun, readRefusedRunsOf } from '../../pipeline/runs/refused-runs.ts';
import { compareMoments } from '../../kit/time/moment.ts';
import type { ScheduledRun, StartRun } from './schedule-lane.ts';

/** Pipelines with rows in the run ledger; the others have ledgers of their own. */
const ledgered = ['refresh', 'maintenance'];

/** Has `status` know of a run that ended without a word of its own, such as one killed before it could begin. */
export function notedRuns(
  start: StartRun,
  noting: { data: DataDirectory; effects: Effects; logger: Logger; isStopping: () => boolean },
): StartRun {
  const { data, logger, isStopping } = noting;
  return async (run) => {
    const outcomeBefore = JSON.stringify(isNotedPipeline(run.pipeline) ? readOutcome(data, run.pipeline) : undefined);
    let isBusy = false;
    const noteEnd = async (what: string) => {
      if (isBusy || isStopping() || !isNotedPipeline(run.pipeline)) return;
      const isItsOwn = JSON.stringify(readOutcome(data, run.pipeline)) !== outcomeBefore;
      if (!isItsOwn) await noteOutcome(noting, run.pipeline, new Error(what));
    };
    const onUnreadable = (unreadable: UnreadableNote) => logger.warn(describeUnreadableNote(unreadable));
    const before = JSON.stringify(readRefusedRunsOf(run.pipeline, data, onUnreadable));
    const note = async (what: string) => {
      await noteEnd(what);
      if (!ledgered.includes(run.pipeline)) return;
      try {
        const isItsOwn = JSON.stringify(readRefusedRunsOf(run.pipeline, data)) !== before;
        if (!isStopping() && !isItsOwn && !hasFailed(data, run))
          await noteRefusedRun(noting, `run ${run.pipeline}`, new Error(what));
      } catch (error) {
        const { message } = error as Error;
        logger.warn(`run ${run.pipeline}: ${what}; \`offerline status\` does not know of it: ${message}`);
      }
    };
    try {
      const end = await start(run);
      const how = typeof end === 'string' ? `by ${end}` : `with exit code ${end}`;
      if (end === exitCode.busy) isBusy = true;
      if (end !== null && end !== exitCode.done) await note(`its process ended ${how}`);
      return end;
    } catch (error) {
      await note(`its process could not be started: ${(error as Error).message}`);
      throw error;
    }
  };
}

/** Returns true where the ledger has the failure. A run that it has as done may not be in storage. */
function hasFailed(data: DataDirectory, { scheduledAt }: ScheduledRun): boolean {
  return readRecentRuns(data).runs.some(
    ({ scheduled_at: at, status }) => at !== null && compareMoments(at, scheduledAt) === 0 && status !== 'done',
  );
}
