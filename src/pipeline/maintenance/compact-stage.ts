import { addDays, dayOf, type Day } from '../../kit/time/moment.ts';
import type { Run, Stage } from '../runs/stage.ts';
import type { StateDatabase } from '../warehouse/database.ts';
import { ensureKeyRuns, mergeKeyRuns } from '../warehouse/keys/upkeep.ts';
import { eventKinds } from '../../kit/vocabulary/values.ts';
import { requestBackup } from '../warehouse/state-copies.ts';
import { compactDay, type EventDay } from './compact-day.ts';
import { rewriteWornTables } from './rewrite-tables.ts';

interface CompactSummary {
  /** Days of a log that were compacted. */
  days: number;
  /** Files that these days had. */
  files: number;
  rows: number;
  bytesBefore: number;
  bytesAfter: number;
  /** Days that wait for the next run. */
  left: number;
}

/** Days of one run: at a million clicks a day, others wait for the warehouse for half a minute at most. */
const maxDays = 10;

/** Number of small key runs that are worth merging. */
const minKeyRuns = 4;

/**
 * Merges key runs, writes tables of mostly deleted rows again, and makes one sorted file of each day before yesterday
 * that has several files or an unsorted one, the oldest first. Nearly every run adds files to today and yesterday, so
 * compacting those would not last. Each day is a transaction of its own, which an interrupted run keeps.
 */
export const compactStage: Stage<StateDatabase, CompactSummary> = {
  name: 'compact',
  async run(run, state) {
    for (const kind of eventKinds)
      await state.transaction(async () => {
        const keys = { ...run, connection: state.connection };
        // A state from storage has no key runs, and no run may have ingested since.
        await ensureKeyRuns(keys, kind, run.runId);
        await mergeKeyRuns(keys, kind, run.runId, minKeyRuns);
      }, `key runs of ${kind} merged`);
    const worn = await state.transaction(() => rewriteWornTables(state.connection), 'worn tables written again');
    if (worn.length > 0)
      run.logger.info({ tables: worn }, 'tables of the state had more deleted rows than others: written again');
    const due = await daysToCompact(run, state);
    const now = due.slice(0, maxDays);
    const summary: CompactSummary = {
      days: 0,
      files: 0,
      rows: 0,
      bytesBefore: 0,
      bytesAfter: 0,
      left: due.length - now.length,
    };
    if (now.length === 0) return summary;
    await requestBackup(run.data, run.effects.files);
    run.progress.start('compacting days', now.length);
    try {
      for (const each of now) {
        const { files, rows, bytesBefore, bytesAfter } = await compactDay(run, state, each);
        summary.days++;
        summary.files += files;
        summary.rows += rows;
        summary.bytesBefore += bytesBefore;
        summary.bytesAfter += bytesAfter;
        run.progress.advance(summary.days);
      }
    } finally {
      run.progress.finish();
    }
    return summary;
  },
};

async function daysToCompact(run: Run, { db }: StateDatabase): Promise<EventDay[]> {
  const today = dayOf(run.asOf);
  const { events } = run.settings.retention;
  const keptFrom: Day | null = events === undefined ? null : addDays(today, -events);
  const days = await db
    .selectFrom('event_files')
    .select(({ fn }) => [
      'kind',
      'day',
      fn.countAll<number>().as('files'),
      fn.countAll<number>().filterWhere('form', 'is', null).as('unsorted'),
      fn.countAll<number>().filterWhere('form', '=', 'reduced').as('reduced'),
    ])
    .where('day', '<', addDays(today, -1))
    .groupBy(['kind', 'day'])
    .orderBy('day')
    .orderBy('kind')
    .execute();
  return days.flatMap(({ kind, day, files, unsorted, reduced }): EventDay[] => {
    // A reduced day stays reduced, whatever is configured now.
    const isPast = (kind === 'clicks' && keptFrom !== null && day < keptFrom) || reduced > 0;
    const isDue = files > 1 || unsorted > 0 || (isPast && reduced === 0);
    return isDue ? [{ kind, day, form: isPast ? 'reduced' : 'sorted' }] : [];
  });
}
