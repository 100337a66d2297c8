import { join } from 'node:path';
import { quotedPath } from '../../kit/text/sql-text.ts';
import { dayOf, type Day } from '../../kit/time/moment.ts';
import type { Run, Stage } from '../runs/stage.ts';
import type { StateDatabase } from '../warehouse/database.ts';
import { queryRows } from '../../kit/duckdb/dialect/rows.ts';
import { figureNames } from '../sql/figures.ts';
import { bumpRevision } from '../warehouse/metadata.ts';
import { stageClosedReport } from './day-marts.ts';
import { clearReport, currentMarts, martsAsOf, recordMarts } from '../warehouse/dirty-partitions.ts';
import { readReportDays, type ReportDay } from './report-days.ts';

/** Reports that a backfill computes: the missing and outdated ones of days in [from, to], or all of them. */
export interface BackfillScope {
  from?: Day | undefined;
  to?: Day | undefined;
  all: boolean;
}

/** Change of a report when the staged one replaces it. Sums over the day's offers only show whether it matters. */
export interface ReportChange {
  day: Day;
  /** Offers whose figures change, that the report gains, and that it loses. */
  changed: number;
  added: number;
  removed: number;
  clicks: { before: number; after: number };
  conversions: { before: number; after: number };
  /** Gross USD. */
  earnings: { before: string; after: string };
}

/** Returns the days before today whose reports the scope asks for, the oldest first. */
export async function reportsToBackfill(
  { connection }: StateDatabase,
  { from, to, all }: BackfillScope,
): Promise<ReportDay[]> {
  const asOf = await martsAsOf(connection);
  if (asOf === undefined) return [];
  return (await readReportDays(connection, dayOf(asOf), { from, to })).filter(
    ({ state }) => all || state !== 'current',
  );
}

/**
 * Computes up to `max` of the scope's reports beside those in force, each in a transaction of its own, so that an
 * interrupted backfill keeps them.
 */
export const stageReportsStage: Stage<
  { state: StateDatabase; scope: BackfillScope; max: number; onDay: (day: Day) => void },
  { reports: number; left: number }
> = {
  name: 'reports',
  async run(run, { state, scope, max, onDay }) {
    const due = (await reportsToBackfill(state, scope)).filter(({ staged }) => !staged);
    for (const { day } of due.slice(0, max)) {
      await state.transaction(() => stageClosedReport(run, state.connection, day), 'staged report');
      onDay(day);
    }
    return { reports: Math.min(due.length, max), left: Math.max(0, due.length - max) };
  },
};

/** Puts the scope's staged reports into force in one transaction, and returns what changes. */
export const promoteReportsStage: Stage<{ state: StateDatabase; scope: BackfillScope }, { reports: ReportChange[] }> = {
  name: 'promote-reports',
  async run(run, { state, scope }) {
    const days = (await reportsToBackfill(state, scope)).filter(({ staged }) => staged).map(({ day }) => day);
    if (days.length === 0) return { reports: [] };
    const { connection, db } = state;
    return state.transaction(async () => {
      const reports: ReportChange[] = [];
      const wereCurrent = (await currentMarts(state)) !== undefined;
      for (const day of days) {
        reports.push(await compareReports(run, state, day));
        const { run_id: _computedBy, ...staged } = await db
          .selectFrom('staged_reports')
          .selectAll()
          .where('day', '=', day)
          .executeTakeFirstOrThrow();
        // Recorded as this run's, so that audits look at it: another run may have published since it was computed.
        await db
          .insertInto('mart_files')
          .orReplace()
          .values({ mart: 'report_daily', run_id: run.runId, ...staged })
          .execute();
        await clearReport(connection, day);
      }
      await bumpRevision(connection);
      // Nothing else is computed from reports of closed days.
      if (wereCurrent) await recordMarts(connection);
      return { reports };
    }, 'backfill');
  },
};

async function compareReports(run: Run, { connection, db }: StateDatabase, day: Day): Promise<ReportChange> {
  const files = await db
    .selectFrom('staged_reports as staged')
    .leftJoin('mart_files as published', (both) =>
      both.onRef('published.day', '=', 'staged.day').on('published.mart', '=', 'report_daily'),
    )
    .select(['published.path as before', 'staged.path as after'])
    .where('staged.day', '=', day)
    .executeTakeFirst();
  if (files === undefined) throw new Error(`the report of ${day} is not staged`);
  const read = (path: string) =>
    `FROM read_parquet(${quotedPath(join(run.data.warehouse, path))}, hive_partitioning = false)`;
  const after = read(files.after);
  const before = files.before === null ? `FROM (${after}) WHERE false` : read(files.before);
  const sums = (figure: string, type: string) =>
    `coalesce(sum(old.${figure}), 0)::${type} AS ${figure}_before, coalesce(sum(new.${figure}), 0)::${type} AS ${figure}_after`;
  const [row] = await queryRows<
    Record<'changed' | 'added' | 'removed' | `${'clicks' | 'conversions'}_${'before' | 'after'}`, number> &
      Record<'earnings_before' | 'earnings_after', string>
  >(
    connection,
    `SELECT
       count(*) FILTER (old.offer_id IS NOT NULL AND new.offer_id IS NOT NULL
         AND (${figureNames()
           .map((figure) => `old.${figure} IS DISTINCT FROM new.${figure}`)
           .join(' OR ')})) AS changed,
       count(*) FILTER (old.offer_id IS NULL) AS added, count(*) FILTER (new.offer_id IS NULL) AS removed,
       ${sums('clicks', 'BIGINT')}, ${sums('conversions', 'BIGINT')}, ${sums('earnings', 'DECIMAL(24, 6)')}
     FROM (${before}) AS old FULL JOIN (${after}) AS new ON new.offer_id = old.offer_id`,
  );
  if (row === undefined) throw new Error('a query for sums gave no row');
  return {
    day,
    changed: row.changed,
    added: row.added,
    removed: row.removed,
    clicks: { before: row.clicks_before, after: row.clicks_after },
    conversions: { before: row.conversions_before, after: row.conversions_after },
    earnings: { before: row.earnings_before, after: row.earnings_after },
  };
}
