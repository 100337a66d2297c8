import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { queryRows } from '../../kit/duckdb/dialect/rows.ts';
import { replaceFile } from '../../kit/files/effects.ts';
import { readNote, type UnreadableNote } from '../../kit/files/note-file.ts';
import { momentAsText } from '../../kit/text/sql-text.ts';
import type { Moment } from '../../kit/time/moment.ts';
import type { Run } from './stage.ts';
import type { StateDatabase } from '../warehouse/database.ts';
import { readWarehouseHolder } from './lock.ts';
import { endedByForce } from './run-ledger.ts';

const statuses = ['running', 'done', 'failed', 'interrupted'] as const;

const recentStageSchema = z.object({
  stage: z.string(),
  started_at: z.string(),
  finished_at: z.string().nullable(),
  status: z.enum(statuses),
  rows_in: z.number().nullable(),
  rows_out: z.number().nullable(),
  bytes: z.number().nullable(),
  error: z.string().nullable(),
});

export type RecentRun = z.output<typeof recentRunSchema>;

const recentRunSchema = z.object({
  run_id: z.number(),
  pipeline: z.string(),
  as_of: z.string(),
  /** Moment of the schedule that started it; null where a person did. */
  scheduled_at: z.string().nullable(),
  started_at: z.string(),
  finished_at: z.string().nullable(),
  status: z.enum(statuses),
  snapshot_id: z.string().nullable(),
  error: z.string().nullable(),
  stages: z.array(recentStageSchema),
});

type RecentRuns = z.output<typeof recentRunsSchema>;

const recentRunsSchema = z.object({
  /** The process that wrote the file; a run that is under way is its own. */
  pid: z.number(),
  /** Newest moment of the schedule, by pipeline, whose run ended; the schedule catches up an interrupted one. */
  scheduled: z.record(z.string(), z.string()),
  /** The newest first. */
  runs: z.array(recentRunSchema),
});

/**
 * Runs in the copy beside the newest of each pipeline: some days of a schedule, few enough to be written at every run.
 * A nightly pipeline's last one may be older.
 */
const maxRuns = 500;

/**
 * Copies the newest part of the run ledger to a file beside the warehouse, for readers while a run holds it, and for
 * runs that published nothing. Where the file cannot be written the run goes on, and the next one writes it.
 */
export async function copyRecentRuns(
  { data, effects, logger }: Pick<Run, 'data' | 'effects' | 'logger'>,
  { connection, db }: StateDatabase,
): Promise<void> {
  const scheduled = await db
    .selectFrom('runs')
    .select((run) => ['pipeline', run.fn.max('scheduled_at').$castTo<Moment>().as('scheduled_at')])
    .where('scheduled_at', 'is not', null)
    .where('status', 'in', ['done', 'failed'])
    .groupBy('pipeline')
    .orderBy('pipeline')
    .execute();
  // As values, thousands of moments take twice as long.
  const runs = await queryRows<RowAsJson>(
    connection,
    `SELECT run_id, to_json({${ofRun}})::VARCHAR AS json FROM runs WHERE run_id IN (${copied}) ORDER BY run_id DESC`,
  );
  const stages = await queryRows<RowAsJson>(
    connection,
    `SELECT run_id, to_json({${ofStage}})::VARCHAR AS json FROM run_stages
     WHERE run_id IN (${copied}) ORDER BY started_at, finished_at`,
  );
  const stagesOf = Map.groupBy(stages, ({ run_id }) => run_id);
  const withStages = runs.map(
    ({ run_id, json }) =>
      `${json.slice(0, -1)},"stages":[${(stagesOf.get(run_id) ?? []).map((stage) => stage.json).join(',')}]}`,
  );
  const scheduledOf = Object.fromEntries(scheduled.map(({ pipeline, scheduled_at }) => [pipeline, scheduled_at]));
  const copy = `{"pid":${process.pid},"scheduled":${JSON.stringify(scheduledOf)},"runs":[${withStages.join(',')}]}\n`;
  try {
    await replaceFile(data.recentRunsFile, copy, 'recent runs', effects.files);
  } catch (error) {
    logger.warn(
      { err: error },
      'the copy of the run ledger could not be written; `offerline runs` and `offerline status` show this run after the next one',
    );
  }
}

const copied = `(SELECT run_id FROM runs ORDER BY run_id DESC LIMIT ${maxRuns})
  UNION ALL SELECT max(run_id) FROM runs GROUP BY pipeline`;

/** SQL of the members of a struct, those of moments as text. */
const members = (columns: readonly string[]) =>
  columns.map((column) => `${column}: ${/_at$|^as_of$/.test(column) ? momentAsText(column) : column}`).join(', ');

const ofRun = members([
  'run_id',
  'pipeline',
  'as_of',
  'scheduled_at',
  'started_at',
  'finished_at',
  'status',
  'snapshot_id',
  'error',
]);
const ofStage = members(['stage', 'started_at', 'finished_at', 'status', 'rows_in', 'rows_out', 'bytes', 'error']);

/** A run or stage as it is in the copy. */
interface RowAsJson {
  run_id: number;
  json: string;
}

/**
 * Returns the newest runs from the copy of the ledger; none where it cannot be read, until the next run writes it. A
 * run that was under way then, and whose process does not hold the warehouse any more, was killed: no later run has
 * recorded that yet.
 */
export function readRecentRuns(
  data: DataDirectory,
  onUnreadable?: (unreadable: UnreadableNote) => void,
): Omit<RecentRuns, 'pid'> {
  for (;;) {
    const copy = readNote(data.recentRunsFile, recentRunsSchema, onUnreadable);
    if (copy === undefined) return { scheduled: {}, runs: [] };
    const { pid, scheduled, runs } = copy;
    if (runs.every(({ status }) => status !== 'running') || readWarehouseHolder(data)?.pid === pid)
      return { scheduled, runs };
    // Otherwise the run ended, or another began, since the first reading.
    if (isDeepStrictEqual(readNote(data.recentRunsFile, recentRunsSchema), copy))
      return { scheduled, runs: runs.map(asEnded) };
  }
}

function asEnded(run: RecentRun): RecentRun {
  return run.status === 'running' ? { ...run, status: 'interrupted', error: endedByForce } : run;
}
