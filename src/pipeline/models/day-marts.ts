import type { DuckDBConnection } from '@duckdb/node-api';
import { join, relative } from 'node:path';
import { runWithRows } from '../../kit/duckdb/insert-rows.ts';
import { makeTempTable, type TempTable } from '../../kit/duckdb/temp-table.ts';
import { quoted } from '../../kit/text/sql-text.ts';
import { addDays, endOfDay, startOfDay, type Day, type Moment } from '../../kit/time/moment.ts';
import type { Run } from '../runs/stage.ts';
import { promoteFile } from '../warehouse/event-files.ts';
import { kyselyOn } from '../warehouse/kysely.ts';
import { clearReport } from '../warehouse/dirty-partitions.ts';
import type { QueryParameters } from '../../kit/duckdb/sql-parameters.ts';
import { modelQuery } from '../sql/model-query.ts';
import { makeDayStats, type DayStats } from './windows.ts';
import { runNumberText } from '../../kit/text/run-number.ts';

/** Marts that grow with history: one Parquet file per UTC day, so that a run writes only changed days. */
export const dayMarts = [
  'conversions',
  'offer_hourly',
  'offer_daily',
  'report_daily',
  'postbacks',
  'postback_attempts',
] as const;
export type DayMart = (typeof dayMarts)[number];

/** Day of a mart: its as-of, and the tables that were made for its model to read. */
export type MartDay = { day: Day; asOf: Moment } & (
  | {
      mart: 'conversions' | 'offer_hourly' | 'offer_daily';
      clicks: TempTable<'day_clicks'>;
      conversions: TempTable<'day_conversions'>;
    }
  | { mart: 'report_daily'; stats: DayStats }
  | { mart: 'postbacks' | 'postback_attempts' }
);

/** Rows of a row group: a look-up by click id reads one group of a day's file, so groups are small. */
export const rowGroupRows = 4096;

/** Writes `report_daily` of a day that is over, as of its last microsecond, and marks it as current. */
export async function writeClosedReport(run: Run, connection: DuckDBConnection, day: Day): Promise<void> {
  await writeDays(run, connection, [await closedReport(run, connection, day)]);
  await clearReport(connection, day);
}

/** Writes the report beside the one in force, which stays until `promoteReportsStage`. */
export async function stageClosedReport(run: Run, connection: DuckDBConnection, day: Day): Promise<void> {
  const report = await closedReport(run, connection, day);
  const file = await writeDayFile(run, connection, report.mart, day);
  await kyselyOn(connection)
    .insertInto('staged_reports')
    .orReplace()
    .values({ day, run_id: run.runId, as_of: report.asOf, ...file })
    .execute();
}

async function closedReport(run: Run, connection: DuckDBConnection, day: Day): Promise<MartDay> {
  const asOf = endOfDay(day);
  return { mart: 'report_daily', day, asOf, stats: await makeDayStats(connection, run.data, asOf) };
}

/** Writes `report_daily` of the day under way from the run's own figures. */
export async function writeOpenReport(run: Run, connection: DuckDBConnection, day: Day): Promise<void> {
  const stats = await makeTempTable(connection, 'day_stats', 'FROM offer_stats_2d');
  await writeDays(run, connection, [{ mart: 'report_daily', day, asOf: run.asOf, stats }]);
}

/** Writes days of marts, each from its model, and records their files in `mart_files`. */
export async function writeDays(run: Run, connection: DuckDBConnection, days: readonly MartDay[]): Promise<void> {
  const files: MartFile[] = [];
  for (const { mart, day, asOf } of days)
    files.push({ mart, day, as_of: asOf, ...(await writeDayFile(run, connection, mart, day)) });
  await recordMartFiles(run, connection, files);
}

/** Names the files that the days of marts have from now on; one statement for all, which takes as long as a file. */
export async function recordMartFiles(
  run: Run,
  connection: DuckDBConnection,
  files: readonly MartFile[],
): Promise<void> {
  await runWithRows(
    connection,
    {
      mart: 'VARCHAR',
      day: 'VARCHAR',
      as_of: 'VARCHAR',
      path: 'VARCHAR',
      rows: 'BIGINT',
      bytes: 'BIGINT',
      sha256: 'VARCHAR',
    },
    files,
    `INSERT OR REPLACE INTO mart_files BY NAME SELECT *, ${run.runId} AS run_id FROM rows`,
  );
}

/** File of a mart's day, as of a moment. */
export interface MartFile extends DayFile {
  mart: DayMart;
  day: Day;
  as_of: Moment;
}

interface DayFile {
  /** Within the warehouse folder. */
  path: string;
  rows: number;
  bytes: number;
  sha256: string;
}

async function writeDayFile(run: Run, connection: DuckDBConnection, mart: DayMart, day: Day): Promise<DayFile> {
  const scratch = join(run.data.scratch, `${mart}.parquet`);
  const target = martFile(run, mart, day);
  const query = modelQuery('marts', mart, dayParameters(day));
  const { rowsChanged: rows } = await run.effects.perform(`mart ${mart}: written`, () =>
    connection.run(
      `COPY (${query}) TO ${quoted(scratch)} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${rowGroupRows})`,
    ),
  );
  const promoted = await promoteFile(scratch, target, `mart ${mart}`, run.effects.files);
  return { path: relative(run.data.warehouse, target), rows, ...promoted };
}

/** Returns the parameters of a mart's model for a day. */
function dayParameters(day: Day): QueryParameters {
  return { report_date: day, day_start: startOfDay(day), day_end: startOfDay(addDays(day, 1)) };
}

/** Returns the final path of a run's file of a mart's day. */
export function martFile({ data, runId }: Run, mart: DayMart, day: Day): string {
  return join(data.marts, mart, `dt=${day}`, `run-${runNumberText(runId)}.parquet`);
}
