import type { DuckDBConnection } from '@duckdb/node-api';
import { join } from 'node:path';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { queryRows } from '../../kit/duckdb/dialect/rows.ts';
import { makeTempTable, type TempTable } from '../../kit/duckdb/temp-table.ts';
import type { Run } from '../runs/stage.ts';
import { makeRunInput } from '../sql/run-inputs.ts';
import { modelQuery } from '../sql/model-query.ts';
import { sqlDates } from '../../kit/text/sql-text.ts';
import type { Day, Moment } from '../../kit/time/moment.ts';
import { eventRelation } from '../warehouse/event-files.ts';
import { onDays, openDays, type DayRows } from './incremental-marts.ts';

/**
 * Computes `network_hourly` and `site_days` of these days, ascending, as of the run's as-of. The state keeps them: a
 * few rows a day are too few for a file each. Later days, from a run with a later as-of, are deleted; a run that
 * reaches them computes them again.
 */
export async function replaceDaySums(
  run: Run,
  connection: DuckDBConnection,
  days: readonly Day[],
  touchedRows: DayRows<'touched'>,
): Promise<void> {
  const listed = sqlDates(days);
  await openDays(connection, touchedRows, (moment) => onDays(moment, days));
  await loadSiteClicks(connection, run.data, listed, run.asOf);
  for (const [table, day, query] of [
    ['network_hourly', 'hour::DATE', modelQuery('marts', 'network_hourly')],
    ['site_days', 'day', modelQuery('staging', 'site_days_as_of')],
  ] as const) {
    await connection.run(`DELETE FROM ${table} WHERE ${day} IN (${listed}) OR ${day} > ${sqlDates(days.slice(-1))}`);
    await connection.run(`INSERT INTO ${table} ${query}`);
  }
}

/**
 * Makes a table of the clicks of these days by site, from their event files: a roll-up by site, hour and offer would
 * have about as many rows as there are clicks.
 */
async function loadSiteClicks(
  connection: DuckDBConnection,
  data: DataDirectory,
  days: string,
  asOf: Moment,
): Promise<TempTable<'day_site_clicks'>> {
  const files = await queryRows<EventFile>(
    connection,
    `SELECT path, day::VARCHAR AS day, last_at > TIMESTAMPTZ '${asOf}' AS is_cut
     FROM event_files WHERE kind = 'clicks' AND day IN (${days}) ORDER BY path`,
  );
  const counts = await makeRunInput(connection, 'touched_click_counts');
  // Timestamps take longest to read; only files with clicks later than as-of need them.
  for (const [some, condition] of [
    [files.filter(({ is_cut }) => !is_cut), ''],
    [files.filter(({ is_cut }) => is_cut), `WHERE clicked_at <= TIMESTAMPTZ '${asOf}'`],
  ] as const)
    if (some.length > 0) await connection.run(`INSERT INTO ${counts} BY NAME ${countsOf(data, some, condition)}`);
  return makeTempTable(connection, 'day_site_clicks', modelQuery('staging', 'site_clicks_as_of'));
}

interface EventFile {
  path: string;
  day: Day;
  /** The file has clicks later than as-of. */
  is_cut: boolean;
}

function countsOf(data: DataDirectory, files: readonly EventFile[], condition: string): string {
  const events = eventRelation(
    'clicks',
    files.map(({ path }) => join(data.warehouse, path)),
  );
  return `SELECT * EXCLUDE (file_index), [${sqlDates(files.map(({ day }) => day))}][file_index::BIGINT + 1] AS day
    FROM (SELECT file_index, offer_id, source, external_id, site_key, count(*) AS clicks FROM ${events} ${condition} GROUP BY ALL)`;
}
