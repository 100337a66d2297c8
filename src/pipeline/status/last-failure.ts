import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { readRecentRuns, type RecentRun } from '../runs/recent-runs.ts';
import type { Moment } from '../../kit/time/moment.ts';

export interface LastFailure {
  run_id: number;
  pipeline: string;
  status: RecentRun['status'];
  at: Moment;
  error: string | null;
  /** Whether a run has put it right since. */
  recovered: boolean;
}

/**
 * The newest run that failed or ended by force; one that no run has put right since comes first. Null where none has
 * lately. Pulls are left out: their own ledger knows the next one before a run takes it over.
 */
export function readLastFailure(data: DataDirectory): LastFailure | null {
  const { runs } = readRecentRuns(data);
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

/** A run that was asked to end, and wrote down that it did, has not failed. */
function isFailure({ status, finished_at }: RecentRun): boolean {
  return status === 'failed' || (status === 'interrupted' && finished_at === null);
}

/**
 * A refresh does what its stages do alone, but no maintenance; nobody may ever run that again, nor the same backfill.
 */
function putsRight(pipeline: string, failed: string): boolean {
  return pipeline === failed || (pipeline === 'refresh' && failed !== 'maintenance');
}

/** Such as "run 3 (refresh) failed at …". */
export function describeFailure({ run_id, pipeline, status, at }: LastFailure): string {
  return `run ${run_id} (${pipeline}) ${status === 'failed' ? `failed at ${at}` : `ended by force; it began at ${at}`}`;
}
