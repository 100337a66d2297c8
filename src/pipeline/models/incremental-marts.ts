import type { DuckDBConnection } from '@duckdb/node-api';
import { join, relative } from 'node:path';
import { makeTempView, type TempTable } from '../../kit/duckdb/temp-table.ts';
import { quoted, sqlDates } from '../../kit/text/sql-text.ts';
import { addDays, compareMoments, startOfDay, type Day } from '../../kit/time/moment.ts';
import type { Run } from '../runs/stage.ts';
import { dayNumber, dayOfNumber, numberOfDay } from '../../kit/time/day-number.ts';
import { queryRows } from '../../kit/duckdb/dialect/rows.ts';
import { promoteFiles } from '../warehouse/event-files.ts';
import { modelQuery } from '../sql/model-query.ts';
import { martFile, recordMartFiles, rowGroupRows, writeDays } from './day-marts.ts';
import { loadClicks, loadConversions, windowConversions, windowStart } from './windows.ts';

/** Marts that new data of a day changes, and the column whose moment decides the day. */
const incrementalMarts = [
  { mart: 'conversions', time: 'occurred_at' },
  { mart: 'offer_hourly', time: 'hour' },
  { mart: 'offer_daily', time: 'day' },
] as const;
type IncrementalMart = (typeof incrementalMarts)[number];

/** Clicks by hour and conversions as of as-of: of all touched days and the window, or of some days. */
export interface DayRows<Days extends 'touched' | 'day'> {
  clicks: TempTable<`${Days}_clicks`>;
  conversions: TempTable<`${Days}_conversions`>;
}

/**
 * Makes the tables that a run computes from: clicks and conversions of the touched days, ascending, and of the window
 * of its figures. Both at once, since reading some conversions' events and clicks scans those of all history.
 */
export async function loadTouchedRows(
  run: Run,
  connection: DuckDBConnection,
  days: readonly Day[],
): Promise<DayRows<'touched'>> {
  const [first, last] = [days[0], days.at(-1)];
  if (first === undefined || last === undefined) throw new Error('the day under way is always touched');
  const ofDays = `SELECT DISTINCT conversion_id FROM conversion_events WHERE ${within('occurred_at', first, last)} AND ${onDays('occurred_at', days)}`;
  const from = [startOfDay(first), windowStart(run.asOf)].toSorted(compareMoments)[0] ?? startOfDay(first);
  return {
    clicks: await loadClicks(connection, run.data, 'touched_clicks', from, run.asOf),
    conversions: await loadConversions(
      connection,
      'touched_conversions',
      `${ofDays} UNION ${windowConversions(run.asOf)}`,
      run.asOf,
    ),
  };
}

/**
 * Writes the incremental marts of these days, ascending, as of the run's as-of. One statement writes all days of few
 * rows, since a statement each would take minutes for thousands. A day without rows has no file, but the last day
 * always has one: a view over no file fails.
 */
export async function writeTouchedDays(
  run: Run,
  connection: DuckDBConnection,
  days: readonly Day[],
  touchedRows: DayRows<'touched'>,
): Promise<void> {
  const last = days.at(-1);
  const alone = new Set([...(await largeDays(connection, touchedRows)), last]);
  const together = days.filter((day) => !alone.has(day));
  run.progress.start('days of marts', days.length);
  try {
    if (together.length > 0)
      for (const mart of incrementalMarts) await writeTogether(run, connection, touchedRows, mart, together);
    for (const [index, day] of days.filter((each) => alone.has(each)).entries()) {
      await writeAlone(run, connection, touchedRows, incrementalMarts, day);
      run.progress.advance(together.length + index + 1);
    }
  } finally {
    run.progress.finish();
  }
}

/** Returns the days of which a mart may have more than one row group, so that the order of rows matters. */
async function largeDays(connection: DuckDBConnection, { clicks, conversions }: DayRows<'touched'>): Promise<Day[]> {
  const rows = await queryRows<{ day_number: number }>(
    connection,
    `SELECT day_number
     FROM (SELECT ${dayNumber('hour')} AS day_number FROM ${clicks} UNION ALL SELECT ${dayNumber('occurred_at')} FROM ${conversions})
     GROUP BY day_number HAVING count(*) > ${rowGroupRows}`,
  );
  return rows.map(({ day_number }) => dayOfNumber(day_number));
}

async function writeTogether(
  run: Run,
  connection: DuckDBConnection,
  touchedRows: DayRows<'touched'>,
  touched: IncrementalMart,
  days: readonly Day[],
): Promise<void> {
  const { mart, time } = touched;
  const { files } = run.effects;
  const folder = join(run.data.scratch, mart);
  await files.remove(folder, `mart ${mart}: leftover removed`);
  await files.makeDirectory(folder);
  await openDays(connection, touchedRows, (moment) => onDays(moment, days));
  const written = await run.effects.perform(`mart ${mart}: written`, () =>
    queryRows<{ filename: string; count: number }>(
      connection,
      // Ordered by day: otherwise each thread begins a file of its own for most days.
      `COPY (SELECT mart.*, ${dayNumber(time)} AS day_number FROM (${modelQuery('marts', mart)}) AS mart ORDER BY day_number)
     TO ${quoted(folder)} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${rowGroupRows}, PARTITION_BY (day_number), RETURN_STATS)`,
    ),
  );
  const byDay = Map.groupBy(written, ({ filename }) =>
    dayOfNumber(Number(/day_number=(\d+)/.exec(relative(folder, filename))?.[1])),
  );
  // Rows of the others are replaced where they are: of a table with a key DuckDB keeps rows that were deleted.
  const empty = days.filter((day) => !byDay.has(day));
  if (empty.length > 0)
    await connection.run(`DELETE FROM mart_files WHERE mart = '${mart}' AND day IN (${sqlDates(empty)})`);
  const [whole, cut] = [
    [...byDay].filter(([, parts]) => parts.length === 1),
    [...byDay].filter(([, parts]) => parts.length > 1),
  ];
  const promoted = await promoteFiles(
    whole.flatMap(([day, parts]) =>
      parts.map(({ filename, count }) => ({ day, rows: count, from: filename, to: martFile(run, mart, day) })),
    ),
    `mart ${mart}`,
    files,
  );
  await recordMartFiles(
    run,
    connection,
    promoted.map(({ day, to, rows, bytes, sha256 }) => ({
      mart,
      day,
      as_of: run.asOf,
      path: relative(run.data.warehouse, to),
      rows,
      bytes,
      sha256,
    })),
  );
  for (const [day] of cut) await writeAlone(run, connection, touchedRows, [touched], day);
}

async function writeAlone(
  run: Run,
  connection: DuckDBConnection,
  touchedRows: DayRows<'touched'>,
  marts: readonly IncrementalMart[],
  day: Day,
): Promise<void> {
  const ofDay = await openDays(connection, touchedRows, (time) => within(time, day, day));
  const martDays = marts.map(({ mart }) => ({ mart, day, asOf: run.asOf, ...ofDay }));
  await writeDays(run, connection, martDays);
}

/** Makes the views of some days that the models of incremental marts read. */
export async function openDays(
  connection: DuckDBConnection,
  { clicks, conversions }: DayRows<'touched'>,
  isOnThem: (time: string) => string,
): Promise<DayRows<'day'>> {
  return {
    clicks: await makeTempView(connection, 'day_clicks', `FROM ${clicks} WHERE ${isOnThem('hour')}`),
    conversions: await makeTempView(
      connection,
      'day_conversions',
      `FROM ${conversions} WHERE ${isOnThem('occurred_at')}`,
    ),
  };
}

/** Returns SQL for whether a moment is on one of these days. */
export function onDays(time: string, days: readonly Day[]): string {
  return `${dayNumber(time)} IN (${days.map(numberOfDay).join(', ')})`;
}

/** Returns SQL for whether a moment is within these days. Bounds, not a cast to DATE, let DuckDB skip row groups. */
function within(time: string, first: Day, last: Day): string {
  return `${time} >= TIMESTAMPTZ '${startOfDay(first)}' AND ${time} < TIMESTAMPTZ '${startOfDay(addDays(last, 1))}'`;
}
