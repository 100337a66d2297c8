import type { DuckDBConnection } from '@duckdb/node-api';
import { compareMoments, dayOf, startOfDay, type Day, type Moment } from '../../kit/time/moment.ts';
import type { Run, Stage } from '../runs/stage.ts';
import type { StateDatabase } from '../warehouse/database.ts';
import { queryRows } from '../../kit/duckdb/dialect/rows.ts';
import { withFunctions } from '../sql/model-query.ts';
import {
  clearMartDays,
  currentMarts,
  martsAsOf,
  recordMarts,
  reopenReportsAfter,
  dirtyMartDays,
} from '../warehouse/dirty-partitions.ts';
import { writeClosedReport, writeOpenReport } from './day-marts.ts';
import { replaceDaySums } from './day-sums.ts';
import { writePostbackMarts } from './postback-marts.ts';
import { readReportDays } from './report-days.ts';
import { loadTouchedRows, writeTouchedDays } from './incremental-marts.ts';
import { replaceStats } from './windows.ts';

export interface ModelsSummary {
  /** False where as-of and content have not changed since the last computation. */
  computed: boolean;
  /** Days whose marts were written. */
  days: number;
  /** Reports of closed days that are still outdated; later runs or `backfill reports` compute them. */
  reportsOutdated: number;
  /** Offers with figures. */
  offers: number;
}

/**
 * Closed reports that one run computes, the newest first, so that late data on many days does not hold it up. The
 * others stay marked in `report_days` for later runs.
 */
const maxReportsPerRun = 10;

/**
 * Computes figures and marts from roll-ups, events and catalog, as of the run's as-of: days that new data or the
 * passing of time made stale, and the figures of the window each time.
 */
export const modelsStage: Stage<StateDatabase, ModelsSummary> = {
  name: 'models',
  async run(run, state) {
    const { connection } = state;
    if ((await currentMarts(state)) === run.asOf)
      return { computed: false, days: 0, reportsOutdated: 0, offers: await countOffers(state) };
    return state.transaction(async () => {
      const today = dayOf(run.asOf);
      const before = await martsAsOf(connection);
      // A run with an as-of in the future closed days that are not over.
      await reopenReportsAfter(connection, run.wallClock);
      const days = await touchedDays(run, state, before);
      const touchedRows = await loadTouchedRows(run, connection, days);
      await writeTouchedDays(run, connection, days, touchedRows);
      await replaceDaySums(run, connection, days, touchedRows);
      const reports = await reportsToClose(connection, before, today);
      for (const day of reports.now) await writeClosedReport(run, connection, day);
      await replaceStats(connection, touchedRows, run.asOf);
      await writeOpenReport(run, connection, today);
      await writePostbackMarts(run, connection);
      await clearMartDays(connection);
      await recordMarts(connection, run.asOf);
      return { computed: true, days: days.length, reportsOutdated: reports.later, offers: await countOffers(state) };
    }, 'models');
  },
};

/**
 * Returns the days up to as-of that new data changes, days with data that passed since the last run, days of events
 * that were later than its as-of or of announcements that have expired since, and today. Empty days of a long pause are
 * left out.
 */
async function touchedDays(run: Run, { connection }: StateDatabase, before: Moment | undefined): Promise<Day[]> {
  const since = before === undefined || compareMoments(before, run.asOf) > 0 ? run.asOf : before;
  const until = before === undefined || compareMoments(before, run.asOf) < 0 ? run.asOf : before;
  const at = (moment: Moment) => `TIMESTAMPTZ '${moment}'`;
  const pendingUntil = withFunctions('pending_until(occurred_at)');
  const today = `DATE '${dayOf(run.asOf)}'`;
  const rows = await queryRows<{ day: Day }>(
    connection,
    `SELECT DISTINCT day::VARCHAR AS day FROM (
       ${dirtyMartDays}
       UNION ALL
       SELECT ${today}
       UNION ALL
       SELECT DISTINCT hour::DATE FROM click_hourly WHERE hour >= ${at(startOfDay(dayOf(since)))} AND hour <= ${at(run.asOf)}
       UNION ALL
       SELECT DISTINCT occurred_at::DATE FROM conversion_events WHERE occurred_at >= ${at(startOfDay(dayOf(since)))} AND occurred_at <= ${at(run.asOf)}
       UNION ALL
       SELECT occurred_at::DATE FROM conversion_events WHERE conversion_id IN (
         SELECT conversion_id FROM conversion_events WHERE occurred_at > ${at(since)} AND occurred_at <= ${at(until)})
       UNION ALL
       SELECT occurred_at::DATE FROM conversion_events
       WHERE kind = 'pending' AND ${pendingUntil} > ${at(since)} AND ${pendingUntil} <= ${at(until)})
     WHERE day <= ${today} ORDER BY day`,
  );
  return rows.map(({ day }) => day);
}

/**
 * Returns the days before today whose report this run computes, all that passed without a run and the newest of the
 * outdated ones, and how many stay marked. Days before the first run stay missing until `backfill reports`.
 */
async function reportsToClose(
  connection: DuckDBConnection,
  before: Moment | undefined,
  today: Day,
): Promise<{ now: Day[]; later: number }> {
  const passedFrom = before === undefined ? today : dayOf(before);
  const days = await readReportDays(connection, today);
  const passed = days.filter(({ day, state }) => state === 'missing' && day >= passedFrom);
  const outdated = days.filter(({ state }) => state === 'outdated').toReversed();
  return {
    now: [...passed, ...outdated.slice(0, maxReportsPerRun)].map(({ day }) => day),
    later: Math.max(0, outdated.length - maxReportsPerRun),
  };
}

async function countOffers({ db }: StateDatabase): Promise<number> {
  const { rows } = await db
    .selectFrom('offer_stats_2d')
    .select(({ fn }) => fn.countAll<number>().as('rows'))
    .executeTakeFirstOrThrow();
  return rows;
}
