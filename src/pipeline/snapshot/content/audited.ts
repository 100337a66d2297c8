import type { DuckDBConnection } from '@duckdb/node-api';
import { basename, join } from 'node:path';
import type { DataDirectory } from '../../../kit/config/data-directory.ts';
import { queryRows } from '../../../kit/duckdb/dialect/rows.ts';
import { makeEmptyTempTable, makeTempTable, makeTempView, type TempTable } from '../../../kit/duckdb/temp-table.ts';
import { dayMarts, type DayMart } from '../../models/day-marts.ts';
import { quotedPathList, sqlDates } from '../../../kit/text/sql-text.ts';
import { dayOf, type Day } from '../../../kit/time/moment.ts';
import { keyRanges, repeatedEventKeys } from '../../../kit/vocabulary/event-key.ts';
import type { Run } from '../../runs/stage.ts';
import { eventRelation } from '../../warehouse/event-files.ts';
import type { Manifest } from '../manifest.ts';

/** Relations that audits read beside the tables of the snapshot. */
export interface Audited {
  /** UTC days whose roll-up of clicks was written: `day`. */
  days: TempTable<'audited_days'>;
  /** All clicks of these days, as the event files have them. */
  clicks: TempTable<'audited_clicks'>;
  /**
   * Ids of clicks of these days whose `event_key` occurs more than once, which are mostly none: comparing all ids of a
   * day of millions of clicks takes ten times as long.
   */
  clickIds: TempTable<'audited_click_ids'>;
  /**
   * Rows of each mart with a file a day. A late credit moves a conversion to another day, so conversions are those of
   * every day since the first one.
   */
  marts: { mart: DayMart; rows: TempTable<`audited_${DayMart}`> }[];
  /**
   * The newest days that are over at as-of, of these and of that of the snapshot before. A breakdown by country counts
   * all clicks of a day again: today's would make each publish half as long again, and all days a first one 7 % longer.
   */
  endedDays: TempTable<'audited_ended_days'>;
  /** Answers of the snapshot's functions: for the ended days, and for all of these. */
  byCountry: TempTable<'audited_figures_by_country'>;
  bySource: TempTable<'audited_reversals_by_source'>;
}

const maxEndedDays = 2;
/** More days than any history has. */
const allDays = 1_000_000;

/**
 * Makes the relations that audits read: of marts with a file a day, the days that runs wrote since `published`, since
 * older ones were audited when they were published. A run that ended after its models leaves its days to the next
 * audit. `parquet` returns the absolute paths of a group's files in the snapshot's folder, the oldest day first.
 */
export async function openAudited(
  connection: DuckDBConnection,
  { data, asOf }: Pick<Run, 'data' | 'asOf'>,
  published: Pick<Manifest, 'run_id' | 'as_of'> | undefined,
  parquet: (group: string) => string[],
): Promise<Audited> {
  const publishedRunId = published?.run_id ?? 0;
  const days = await makeTempTable(
    connection,
    'audited_days',
    // A day whose clicks are all on unknown offers has no file of the mart.
    `SELECT day FROM mart_files WHERE run_id > ${publishedRunId} AND mart = 'offer_hourly'
     UNION
     SELECT day FROM event_files WHERE run_id > ${publishedRunId} AND kind = 'clicks' AND form IS NULL`,
  );
  const clickFiles = await queryRows<ClickFile>(
    connection,
    `SELECT path, rows, run_id > ${publishedRunId} AND form IS NULL AS is_new
     FROM event_files WHERE kind = 'clicks' AND day IN (SELECT day FROM ${days}) ORDER BY path`,
  );
  const clicks = clickRelation(data, clickFiles);
  const repeated = await findRepeatedKeys(connection, data, clickFiles);
  const written = await queryRows<{ mart: string; day: Day }>(
    connection,
    `SELECT mart, day::VARCHAR AS day FROM mart_files WHERE run_id > ${publishedRunId} ORDER BY day`,
  );
  const endedTable = await makeTempTable(
    connection,
    'audited_ended_days',
    // The last day of the snapshot before was not over there, and may not have changed since.
    `FROM (FROM ${days} UNION SELECT DATE '${dayOf(published?.as_of ?? asOf)}' AS day)
     WHERE day < DATE '${dayOf(asOf)}'
     ORDER BY day DESC
     LIMIT ${maxEndedDays}`,
  );
  const endedDays = await daysOf(connection, endedTable);
  const marts: Audited['marts'] = [];
  for (const mart of dayMarts) {
    const writtenDays = written.filter((file) => file.mart === mart).map(({ day }) => day);
    const wanted = mart === 'offer_daily' ? [...writtenDays, ...endedDays] : writtenDays;
    marts.push({ mart, rows: await openDayMart(connection, mart, parquet(`marts/${mart}`), wanted) });
  }
  return {
    days,
    endedDays: endedTable,
    byCountry: await openBreakdown(connection, 'figures_by_country', endedDays),
    bySource: await openBreakdown(connection, 'reversals_by_source', await daysOf(connection, days)),
    clicks: await makeTempView(
      connection,
      'audited_clicks',
      `SELECT clicked_at, offer_id, source, external_id FROM ${clicks}`,
    ),
    clickIds: await makeTempView(
      connection,
      'audited_click_ids',
      `SELECT click_id FROM ${clicks} WHERE event_key IN (SELECT event_key FROM ${repeated})`,
    ),
    marts,
  };
}

/** File of clicks of an audited day. */
interface ClickFile {
  /** Relative to the warehouse. */
  path: string;
  rows: number;
  is_new: boolean;
}

function clickRelation(data: DataDirectory, files: readonly ClickFile[]): string {
  return eventRelation(
    'clicks',
    files.map(({ path }) => join(data.warehouse, path)),
  );
}

/** Makes a table of the keys of new clicks that occur more than once among all, a range of keys at a time. */
async function findRepeatedKeys(
  connection: DuckDBConnection,
  data: DataDirectory,
  files: readonly ClickFile[],
): Promise<TempTable<'audited_repeated_keys'>> {
  const newFiles = files.filter(({ is_new }) => is_new);
  const isAllNew = newFiles.length === files.length;
  const newRows = newFiles.reduce((sum, { rows }) => sum + rows, 0);
  const repeated = await makeEmptyTempTable(connection, 'audited_repeated_keys', 'event_key BIGINT');
  for (const range of keyRanges(newRows, isAllNew ? 'compared' : 'joined')) {
    const ofNew = isAllNew
      ? ''
      : `AND event_key IN (SELECT event_key FROM ${clickRelation(data, newFiles)} WHERE ${range})`;
    const query = repeatedEventKeys(clickRelation(data, files), `${range} ${ofNew}`);
    await connection.run(`INSERT INTO ${repeated} ${query}`);
  }
  return repeated;
}

async function daysOf(connection: DuckDBConnection, table: TempTable<string>): Promise<Day[]> {
  const rows = await queryRows<{ day: Day }>(connection, `SELECT day::VARCHAR AS day FROM ${table} ORDER BY day`);
  return rows.map(({ day }) => day);
}

/** Days are written out, so that files of others are not opened. */
async function openBreakdown<Name extends string>(
  connection: DuckDBConnection,
  name: Name,
  days: readonly Day[],
): Promise<TempTable<`audited_${Name}`>> {
  const ofDays = days.length === 0 ? 'false' : `day IN (${sqlDates(days)})`;
  const query = `SELECT * FROM snapshot.${name}(days := ${allDays}) WHERE ${ofDays}`;
  return makeTempView(connection, `audited_${name}`, query);
}

async function openDayMart(
  connection: DuckDBConnection,
  mart: DayMart,
  paths: readonly string[],
  days: readonly Day[],
): Promise<TempTable<`audited_${DayMart}`>> {
  const [first] = days;
  const wanted = new Set(days);
  const dayOfPath = (path: string) => basename(path).slice(0, 10);
  const audited = paths.filter((path) =>
    mart === 'conversions' ? first !== undefined && dayOfPath(path) >= first : wanted.has(dayOfPath(path)),
  );
  // Any file has the columns.
  const rows =
    audited.length > 0
      ? `read_parquet(${quotedPathList(audited)}, hive_partitioning = false)`
      : `read_parquet(${quotedPathList(paths.slice(-1))}, hive_partitioning = false) LIMIT 0`;
  return makeTempView(connection, `audited_${mart}`, `SELECT * FROM ${rows}`);
}
