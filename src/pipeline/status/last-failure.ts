import type { DataDirectory } from '../../kit/config/data-directory.ts';
import type { UnreadableNote } from '../../kit/files/note-file.ts';
import { readRecentRuns, type RecentRun } from '../runs/recent-runs.ts';
import { putsRight } from '../runs/refused-runs.ts';
import type { Moment } from '../../kit/time/moment.ts';

export interface LastFailure {
  run_id: number;
  pipeline: string;
  status: RecentRun['status'];
  at: Moment;
  error: string | null;
  /** A later run has put it right. */
  recovered: boolean;
}

/**
 * Returns the newest run that failed or was killed, first one that no later run put right; null without any lately.
 * Leaves out pulls: their own ledger is ahead of the run ledger.
 */
export function readLastFailure(
  data: DataDirectory,
  onUnreadable?: (unreadable: UnreadableNote) => void,
): LastFailure | null {
  const { runs } = readRecentRuns(data, onUnreadable);
  const failures = runs
    .filter((run) => !isPull(run) && isFailure(run))
    .map(({ run_id, pipeline, status, finished_at, started_at, error }) => ({
      run_id,
      pipeline,
      status,
      at: finished_at ?? started_at,
      error,
      recovered: runs.some(
        (later) => later.run_id > run_id && later.status === 'done' && putsRight(later.pipeline, pipeline),
      ),
    }));
  return failures.find(({ recovered }) => !recovered) ?? failures[0] ?? null;
}

function isPull({ pipeline }: RecentRun): boolean {
  return pipeline.startsWith('pull ');
}

/** Returns whether a run failed or was killed. One that was asked to end, and recorded its end, has not failed. */
function isFailure({ status, finished_at }: RecentRun): boolean {
  return status === 'failed' || (status === 'interrupted' && finished_at === null);
}

/** Returns such as "run 3 (refresh) failed at …". */
export function describeFailure({ run_id, pipeline, status, at }: LastFailure): string {
  return `run ${run_id} (${pipeline}) ${status === 'failed' ? `failed at ${at}` : `ended by force; it began at ${at}`}`;
}
