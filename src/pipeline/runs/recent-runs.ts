import { readFileSync } from 'node:fs';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { replaceFile } from '../../kit/files/effects.ts';
import type { Moment } from '../../kit/time/moment.ts';
import type { Run } from './stage.ts';
import type { StateDatabase } from '../warehouse/database.ts';
import { readWarehouseHolder } from './lock.ts';
import { endedByForce } from './run-ledger.ts';

export interface RecentStage {
  stage: string;
  started_at: Moment;
  finished_at: Moment | null;
  status: 'running' | 'done' | 'failed' | 'interrupted';
  rows_in: number | null;
  rows_out: number | null;
  bytes: number | null;
  error: string | null;
}

export interface RecentRun {
  run_id: number;
  pipeline: string;
  as_of: Moment;
  /** The moment of the schedule that it was started for; null by hand. */
  scheduled_at: Moment | null;
  started_at: Moment;
  finished_at: Moment | null;
  status: 'running' | 'done' | 'failed' | 'interrupted';
  snapshot_id: string | null;
  error: string | null;
  stages: RecentStage[];
}

export interface RecentRuns {
  /** The process that wrote it: a run that is under way is that one's. */
  pid: number;
  /**
   * By pipeline the newest moment of the schedule that a run came to its end for; an interrupted one is to be caught
   * up.
   */
  scheduled: Record<string, Moment>;
  /** The newest first. */
  runs: RecentRun[];
}

/** Some days of a schedule, small enough to be written at every run. */
const mostRuns = 500;

/**
 * Writes the newest part of the run ledger beside the warehouse, for those who ask while a run holds it, and about runs
 * that published nothing. A copy: where it cannot be written the run goes on, and the next one writes it.
 */
export async function copyRecentRuns(
  { data, effects, logger }: Pick<Run, 'data' | 'effects' | 'logger'>,
  { db }: StateDatabase,
): Promise<void> {
  const scheduled = await db
    .selectFrom('runs')
    .select((run) => ['pipeline', run.fn.max('scheduled_at').$castTo<Moment>().as('scheduled_at')])
    .where('scheduled_at', 'is not', null)
    .where('status', 'in', ['done', 'failed'])
    .groupBy('pipeline')
    .orderBy('pipeline')
    .execute();
  const runs = await db
    .selectFrom('runs')
    .select([
      'run_id',
      'pipeline',
      'as_of',
      'scheduled_at',
      'started_at',
      'finished_at',
      'status',
      'snapshot_id',
      'error',
    ])
    .orderBy('run_id', 'desc')
    .limit(mostRuns)
    .execute();
  const stages = await db
    .selectFrom('run_stages')
    .select(['run_id', 'stage', 'started_at', 'finished_at', 'status', 'rows_in', 'rows_out', 'bytes', 'error'])
    .where('run_id', '>=', runs.at(-1)?.run_id ?? 0)
    .orderBy('started_at')
    .orderBy('finished_at')
    .execute();
  const byRun = Map.groupBy(stages, ({ run_id }) => run_id);
  const recent: RecentRuns = {
    pid: process.pid,
    scheduled: Object.fromEntries(scheduled.map(({ pipeline, scheduled_at }) => [pipeline, scheduled_at])),
    runs: runs.map((run) => ({
      ...run,
      stages: (byRun.get(run.run_id) ?? []).map(({ run_id: _of, ...stage }) => stage),
    })),
  };
  try {
    await replaceFile(data.recentRunsFile, `${JSON.stringify(recent)}\n`, 'recent runs', effects.files);
  } catch (error) {
    logger.warn(
      { err: error },
      'the copy of the run ledger could not be written; `runs` and `status` do not know of this run yet',
    );
  }
}

/**
 * The newest runs as they were written down last; none where there never was one. One that was under way then, and
 * whose process no longer holds the warehouse, ended by force: no other run has come by to write that down.
 */
export function readRecentRuns(data: DataDirectory): Omit<RecentRuns, 'pid'> {
  for (;;) {
    const text = textOfRuns(data);
    if (text === undefined) return { scheduled: {}, runs: [] };
    const { pid, scheduled, runs } = JSON.parse(text) as RecentRuns;
    if (runs.every(({ status }) => status !== 'running') || readWarehouseHolder(data)?.pid === pid)
      return { scheduled, runs };
    // Otherwise the run has come to its end, or another has begun, since the first reading.
    if (textOfRuns(data) === text) return { scheduled, runs: runs.map(asEnded) };
  }
}

function textOfRuns(data: DataDirectory): string | undefined {
  try {
    return readFileSync(data.recentRunsFile, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function asEnded(run: RecentRun): RecentRun {
  return run.status === 'running' ? { ...run, status: 'interrupted', error: endedByForce } : run;
}
