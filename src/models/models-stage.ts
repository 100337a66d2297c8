import { addDays, compareMoments, dayOf, endOfDay, startOfDay, type Day, type Moment } from '../stage/as-of.ts';
import type { Run, Stage } from '../stage/stage.ts';
import type { StateDatabase } from '../warehouse/database.ts';
import { queryRows } from '../warehouse/dialect/rows.ts';
import { readChangeNumber, readFact, writeFact } from '../warehouse/facts.ts';
import { writeClosedReport, writeOpenReport, writeTouchedDays } from './day-marts.ts';
import { computeStats, openStaging } from './windows.ts';

export interface ModelsSummary {
  /** False where as-of and content are those of the last computation. */
  computed: boolean;
  /** Days whose marts were written. */
  days: number;
  /** Offers with figures. */
  offers: number;
}

/** The as-of that the marts were computed for last, and the warehouse's change number then. */
const asOfFact = 'marts_as_of';
const changeFact = 'marts_change_number';

/**
 * Figures and marts from roll-ups, events and catalog, as of the run's as-of. Computes only the days that news or the
 * passing of time has touched; the figures of the window anew each time.
 */
export const modelsStage: Stage<StateDatabase, ModelsSummary> = {
  name: 'models',
  async run(run, state) {
    const { connection } = state;
    if ((await currentMarts(state)) === run.asOf) return { computed: false, days: 0, offers: await countOffers(state) };
    await openStaging(connection);
    return state.transaction(async () => {
      const today = dayOf(run.asOf);
      const before = await readFact(connection, asOfFact);
      const days = await touchedDays(run, state, before);
      await writeTouchedDays(run, connection, days);
      for (const day of await reportsToClose(state, days, before, today)) await writeClosedReport(run, connection, day);
      await connection.run('DELETE FROM offer_stats_2d');
      await computeStats(connection, run.data, 'INSERT INTO offer_stats_2d', run.asOf);
      await writeOpenReport(run, connection, today);
      await connection.run('DELETE FROM touched_days');
      await writeFact(connection, asOfFact, run.asOf);
      await writeFact(connection, changeFact, String(await readChangeNumber(connection)));
      return { computed: true, days: days.length, offers: await countOffers(state) };
    });
  },
};

/** As-of of the marts; undefined where there are none, or where what they were computed from has changed since. */
export async function currentMarts({ connection }: StateDatabase): Promise<Moment | undefined> {
  const asOf = await readFact(connection, asOfFact);
  return (await readFact(connection, changeFact)) === String(await readChangeNumber(connection)) ? asOf : undefined;
}

/**
 * Has the next run compute anew what runs after `sinceRunId` wrote: an audit found it wrong, and what was wrong beneath
 * it may be put right without any news arriving.
 */
export async function distrustMarts(state: StateDatabase, sinceRunId: number): Promise<void> {
  const { connection } = state;
  await state.transaction(async () => {
    await connection.run(`INSERT OR IGNORE INTO touched_days SELECT DISTINCT day FROM mart_files WHERE run_id > ${sinceRunId}`);
    // A report counts as unfinished where its as-of lies before the end of its day.
    await connection.run(`UPDATE mart_files SET as_of = day::TIMESTAMPTZ WHERE mart = 'report_daily' AND run_id > ${sinceRunId}`);
    await connection.run('DELETE FROM warehouse_facts WHERE fact = $1', [changeFact]);
  });
}

/**
 * Days up to as-of that news has touched, that passed since the last run with anything on them, or that events stamped
 * ahead of it belong to; and today. After a long pause the empty days cost nothing.
 */
async function touchedDays(run: Run, { connection }: StateDatabase, before: Moment | undefined): Promise<Day[]> {
  const since = before === undefined || compareMoments(before, run.asOf) > 0 ? run.asOf : before;
  const until = before === undefined || compareMoments(before, run.asOf) < 0 ? run.asOf : before;
  const rows = await queryRows<{ day: Day }>(
    connection,
    `SELECT DISTINCT day::VARCHAR AS day FROM (
       SELECT day FROM touched_days
       UNION ALL
       SELECT $5::DATE
       UNION ALL
       SELECT DISTINCT hour::DATE FROM click_hourly WHERE hour >= $1::TIMESTAMPTZ AND hour <= $2::TIMESTAMPTZ
       UNION ALL
       SELECT DISTINCT occurred_at::DATE FROM conversion_events WHERE occurred_at >= $1::TIMESTAMPTZ AND occurred_at <= $2::TIMESTAMPTZ
       UNION ALL
       SELECT occurred_at::DATE FROM conversion_events WHERE conversion_id IN (
         SELECT conversion_id FROM conversion_events WHERE occurred_at > $3::TIMESTAMPTZ AND occurred_at <= $4::TIMESTAMPTZ))
     WHERE day <= $5::DATE ORDER BY day`,
    [startOfDay(dayOf(since)), run.asOf, since, until, dayOf(run.asOf)],
  );
  return rows.map(({ day }) => day);
}

/**
 * Days before today whose report is due: computed while they were under way, passed without a run, or touched by news.
 * A report covers its day and the day before, so a touched day changes the next day's report too.
 */
async function reportsToClose({ connection }: StateDatabase, touched: readonly Day[], before: Moment | undefined, today: Day): Promise<Day[]> {
  const rows = await queryRows<{ day: Day; as_of: Moment }>(
    connection, `SELECT day::VARCHAR AS day, as_of FROM mart_files WHERE mart = 'report_daily' AND day < $1::DATE`, [today],
  );
  const changed = new Set(touched.flatMap((day) => [day, addDays(day, 1)]));
  const due = new Set(rows.filter(({ day, as_of }) => changed.has(day) || compareMoments(as_of, endOfDay(day)) < 0).map(({ day }) => day));
  const reported = new Set(rows.map(({ day }) => day));
  for (let day = before === undefined ? today : dayOf(before); day < today; day = addDays(day, 1)) if (changed.has(day) && !reported.has(day)) due.add(day);
  return [...due].toSorted();
}

async function countOffers({ connection }: StateDatabase): Promise<number> {
  const [row] = await queryRows<{ rows: number }>(connection, 'SELECT count(*) AS rows FROM offer_stats_2d');
  return row?.rows ?? 0;
}
