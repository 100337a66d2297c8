import type { DuckDBConnection } from '@duckdb/node-api';
import { join, relative } from 'node:path';
import { quoted } from '../landing/sql-text.ts';
import { addDays, endOfDay, startOfDay, type Day, type Moment } from '../stage/as-of.ts';
import type { Run } from '../stage/stage.ts';
import { settleFile } from '../warehouse/event-files.ts';
import { modelQuery, type ModelParameters } from '../warehouse/run-model.ts';
import { computeStats, loadClicks, loadConversions } from './windows.ts';

/** Marts that grow with history: one Parquet file per UTC day, so that a run writes only the days it touched. */
export const dayMarts = ['conversions', 'offer_hourly', 'report_daily', 'postbacks', 'postback_attempts'] as const;
export type DayMart = (typeof dayMarts)[number];

/** Marts that lookups search are in the order of click ids: of a day's file they read one row group, of few rows. */
const rowGroupRows = 4096;

/** Writes `conversions` and `offer_hourly` of these days as they stand at the run's as-of. */
export async function writeTouchedDays(run: Run, connection: DuckDBConnection, days: readonly Day[]): Promise<void> {
  const [first] = days;
  if (first === undefined) return;
  await loadClicks(connection, run.data, 'touched_clicks', startOfDay(first), run.asOf);
  const onTheseDays = days.map((day) => `(${ofDay('occurred_at', day)})`).join(' OR ');
  await loadConversions(connection, 'touched_conversions', `SELECT DISTINCT conversion_id FROM conversion_events WHERE ${onTheseDays}`, run.asOf);
  run.progress.start('days of marts', days.length);
  try {
    for (const [index, day] of days.entries()) {
      await connection.run(`
        CREATE OR REPLACE TEMP VIEW day_clicks AS FROM touched_clicks WHERE ${ofDay('hour', day)};
        CREATE OR REPLACE TEMP VIEW day_conversions AS FROM touched_conversions WHERE ${ofDay('occurred_at', day)}`);
      await writeDay(run, connection, 'conversions', day, run.asOf);
      await writeDay(run, connection, 'offer_hourly', day, run.asOf);
      run.progress.advance(index + 1);
    }
  } finally {
    run.progress.finish();
  }
}

/** Bounds, not a cast to DATE: only they let the table's own zones be skipped. */
function ofDay(time: string, day: Day): string {
  return `${time} >= TIMESTAMPTZ '${startOfDay(day)}' AND ${time} < TIMESTAMPTZ '${startOfDay(addDays(day, 1))}'`;
}

/** Writes `report_daily` of a day that is over, as of its last microsecond. It agrees with all that is known by now. */
export async function writeClosedReport(run: Run, connection: DuckDBConnection, day: Day): Promise<void> {
  await computeStats(connection, run.data, 'CREATE OR REPLACE TEMP TABLE day_stats AS', endOfDay(day));
  await writeDay(run, connection, 'report_daily', day, endOfDay(day), { report_date: day });
  for (const table of ['outdated_reports', 'staged_reports']) await connection.run(`DELETE FROM ${table} WHERE day = $1::DATE`, [day]);
}

/** The same beside the report in force, which stays until `takeUpStagedReports`. */
export async function stageClosedReport(run: Run, connection: DuckDBConnection, day: Day): Promise<void> {
  await computeStats(connection, run.data, 'CREATE OR REPLACE TEMP TABLE day_stats AS', endOfDay(day));
  const { path, rows, bytes, sha256 } = await writeDayFile(run, connection, 'report_daily', day, { report_date: day });
  await connection.run(
    'INSERT OR REPLACE INTO staged_reports VALUES ($1::DATE, $2, $3, $4::TIMESTAMPTZ, $5, $6, $7)',
    [day, path, BigInt(run.runId), endOfDay(day), BigInt(rows), BigInt(bytes), sha256],
  );
}

/** Writes `report_daily` of the day under way from the run's own figures. */
export async function writeOpenReport(run: Run, connection: DuckDBConnection, day: Day): Promise<void> {
  await connection.run('CREATE OR REPLACE TEMP TABLE day_stats AS FROM offer_stats_2d');
  await writeDay(run, connection, 'report_daily', day, run.asOf, { report_date: day });
}

/** Writes one day of a mart from its model as it stands now, and names the file in `mart_files`. */
export async function writeDay(run: Run, connection: DuckDBConnection, mart: DayMart, day: Day, asOf: Moment, parameters: ModelParameters = {}): Promise<void> {
  const { path, rows, bytes, sha256 } = await writeDayFile(run, connection, mart, day, parameters);
  await connection.run(
    `INSERT OR REPLACE INTO mart_files VALUES ('${mart}', DATE '${day}', ${quoted(path)}, ${run.runId}, TIMESTAMPTZ '${asOf}', ${rows}, ${bytes}, '${sha256}')`,
  );
}

interface DayFile {
  /** Within the warehouse folder. */
  path: string;
  rows: number;
  bytes: number;
  sha256: string;
}

async function writeDayFile(run: Run, connection: DuckDBConnection, mart: DayMart, day: Day, parameters: ModelParameters): Promise<DayFile> {
  const scratch = join(run.data.scratch, `${mart}.parquet`);
  const target = join(run.data.marts, mart, `dt=${day}`, `run-${String(run.runId).padStart(8, '0')}.parquet`);
  const query = modelQuery('marts', mart, parameters);
  const { rowsChanged: rows } = await run.effects.perform(`mart ${mart}: written`, () => connection.run(`COPY (${query}) TO ${quoted(scratch)} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${rowGroupRows})`));
  const settled = await settleFile(scratch, target, `mart ${mart}`, run.effects.files);
  return { path: relative(run.data.warehouse, target), rows, ...settled };
}
