import type { DuckDBConnection } from '@duckdb/node-api';
import { basename, join } from 'node:path';
import type { DataDirectory } from '../../config/data-directory.ts';
import { queryRows } from '../../duckdb/dialect/rows.ts';
import { dayMarts, type DayMart } from '../../models/day-marts.ts';
import { quotedPathList } from '../../text/sql-text.ts';
import type { Day } from '../../time/moment.ts';
import { eventRelation } from '../../warehouse/event-files.ts';

/**
 * Makes what audits read beside the tables of the snapshot. What history holds was audited when it was published, so of
 * what lies in one file a day they look at the days that runs after `publishedRunId` wrote. Those may be several runs,
 * since one that failed or ended after its models left its days unaudited.
 *
 * - `audited_days (day)`: UTC days whose roll-up of clicks was written;
 * - `audited_clicks`: all clicks of these days, as the event files have them;
 * - `audited_click_ids`: the ids of those new clicks of them whose `event_key` is there more than once, so mostly none;
 *   to look at all ids of a day of millions of clicks takes ten times as long;
 * - `audited_<mart>`: the rows of a mart that lies in one file a day. A late credit moves a conversion to another day,
 *   so of conversions those of every day since the first one.
 *
 * `parquet` gives the absolute paths of a group's files in the snapshot's folder, oldest day first.
 */
export async function openAudited(
  connection: DuckDBConnection,
  data: DataDirectory,
  publishedRunId: number,
  parquet: (group: string) => string[],
): Promise<void> {
  // A day of clicks on unknown offers only has no file of the mart.
  await connection.run(
    `CREATE OR REPLACE TEMP TABLE audited_days AS
     SELECT day FROM mart_files WHERE run_id > ${publishedRunId} AND mart = 'offer_hourly'
     UNION
     SELECT day FROM event_files WHERE run_id > ${publishedRunId} AND kind = 'clicks' AND form IS NULL`,
  );
  const clickFiles = await queryRows<{ path: string; is_new: boolean }>(
    connection,
    `SELECT path, run_id > ${publishedRunId} AND form IS NULL AS is_new
     FROM event_files WHERE kind = 'clicks' AND day IN (SELECT day FROM audited_days) ORDER BY path`,
  );
  const relation = (files: typeof clickFiles) =>
    eventRelation(
      'clicks',
      files.map(({ path }) => join(data.warehouse, path)),
    );
  const clicks = relation(clickFiles);
  const newFiles = clickFiles.filter(({ is_new }) => is_new);
  const ofNew =
    newFiles.length === clickFiles.length ? '' : `WHERE event_key IN (SELECT event_key FROM ${relation(newFiles)})`;
  await connection.run(`
    CREATE OR REPLACE TEMP VIEW audited_clicks AS SELECT clicked_at, offer_id, source, external_id FROM ${clicks};
    CREATE OR REPLACE TEMP VIEW audited_click_ids AS SELECT click_id FROM ${clicks} WHERE event_key IN (
      SELECT event_key FROM ${clicks} ${ofNew} GROUP BY event_key HAVING count(*) > 1)`);
  const written = await queryRows<{ mart: string; day: Day }>(
    connection,
    `SELECT mart, day::VARCHAR AS day FROM mart_files WHERE run_id > ${publishedRunId} ORDER BY day`,
  );
  for (const mart of dayMarts) {
    const days = written.filter((file) => file.mart === mart).map(({ day }) => day);
    await openDayMart(connection, mart, parquet(`marts/${mart}`), days);
  }
}

async function openDayMart(
  connection: DuckDBConnection,
  mart: DayMart,
  paths: readonly string[],
  days: readonly Day[],
): Promise<void> {
  const [first] = days;
  const wanted = new Set(days);
  const dayOfPath = (path: string) => basename(path).slice(0, 10);
  const audited = paths.filter((path) =>
    mart === 'conversions' ? first !== undefined && dayOfPath(path) >= first : wanted.has(dayOfPath(path)),
  );
  // Any file tells the columns.
  const rows =
    audited.length > 0
      ? `read_parquet(${quotedPathList(audited)}, hive_partitioning = false)`
      : `read_parquet(${quotedPathList(paths.slice(-1))}, hive_partitioning = false) LIMIT 0`;
  await connection.run(`CREATE OR REPLACE TEMP VIEW audited_${mart} AS SELECT * FROM ${rows}`);
}
