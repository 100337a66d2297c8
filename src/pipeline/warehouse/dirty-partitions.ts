import type { DuckDBConnection, DuckDBValue } from '@duckdb/node-api';
import { queryRows } from '../../kit/duckdb/dialect/rows.ts';
import { dayOf, type Day, type Moment } from '../../kit/time/moment.ts';
import type { StateDatabase } from './database.ts';
import { deleteMetadata, readAllMetadata, readMetadata, readRevision, revisionIn, writeMetadata } from './metadata.ts';
import type { NamedFile } from './named-files.ts';
import { kyselyOn } from './kysely.ts';
import type { OutdatedReportsTable } from './tables.ts';

/*
 * Marks of marts that are out of date: computed from less than is known by now. Every mark is written, read and removed
 * here, by UTC day: `dirty_days` for the marts of events, `outdated_reports` for daily reports with the cause,
 * `dirty_postback_days` for the marts of postbacks; and the revision that all of them were computed at. Code that
 * changes data marks what it makes stale, in its own transaction; the models stage computes it again and removes the
 * marks.
 *
 * `days` are always a query for a column `day`, a DATE.
 */

/**
 * Reasons why a daily report is stale: new clicks, new conversion events, a click that conversions waited for, an offer
 * that was unknown.
 */
type ReportCause = OutdatedReportsTable['cause'];
export type PostbackMart = 'postbacks' | 'postback_attempts';

/** The as-of that the marts were computed for last, and the warehouse's revision then. */
const asOfKey = 'marts_as_of';
const martsRevisionKey = 'marts_revision';

/** Marks the marts of events of these days. */
export async function markMartDays(connection: DuckDBConnection, days: string): Promise<void> {
  await connection.run(`INSERT OR IGNORE INTO dirty_days SELECT DISTINCT day FROM (${days})`);
}

/**
 * Marks every day that has an event of these conversions (a query for their ids): a late credit moves its
 * conversion to another day.
 */
export async function markDaysOfConversions(connection: DuckDBConnection, conversionIds: string): Promise<void> {
  await markMartDays(
    connection,
    `SELECT occurred_at::DATE AS day FROM conversion_events WHERE conversion_id IN (${conversionIds})`,
  );
}

/**
 * Marks daily reports. A cause that is found again counts as found by the latest run: a report that a backfill computed
 * before that run lacks what it brought.
 */
export async function markReports(
  connection: DuckDBConnection,
  cause: ReportCause,
  runId: number,
  days: string,
): Promise<void> {
  await connection.run(
    `INSERT INTO outdated_reports SELECT DISTINCT day, '${cause}', ${runId} FROM (${days})
     ON CONFLICT (day, cause) DO UPDATE SET run_id = greatest(outdated_reports.run_id, excluded.run_id)`,
  );
}

/** Marks days of a mart of postbacks. */
export async function markPostbackDays(
  connection: DuckDBConnection,
  mart: PostbackMart,
  days: string,
  parameters: DuckDBValue[] = [],
): Promise<void> {
  await connection.run(
    `INSERT OR IGNORE INTO dirty_postback_days SELECT DISTINCT '${mart}', day FROM (${days})`,
    parameters,
  );
}

/** A query for the marked days of the marts of events. */
export const dirtyMartDays = 'SELECT day FROM dirty_days';

/** A query for the marked reports: `day`, `cause`, and the `run_id` that found it. */
export const outdatedReports = 'SELECT day, cause, run_id FROM outdated_reports';

/** The marked days of the marts of postbacks, and `today` of a mart that has no day yet: a view over no file fails. */
export function dirtyPostbackDays(
  connection: DuckDBConnection,
  marts: readonly PostbackMart[],
  today: Day,
): Promise<{ mart: PostbackMart; day: Day }[]> {
  return queryRows(
    connection,
    `SELECT mart, day::VARCHAR AS day FROM dirty_postback_days
     UNION
     SELECT mart, $1 FROM (VALUES ${marts.map((mart) => `('${mart}')`).join(', ')}) AS marts (mart) WHERE mart NOT IN (SELECT mart FROM mart_files)
     ORDER BY 1, 2`,
    [today],
  );
}

/** Removes the marks of the marts of events: they are computed. */
export async function clearMartDays(connection: DuckDBConnection): Promise<void> {
  await kyselyOn(connection).deleteFrom('dirty_days').execute();
}

/** Removes the marks of a day's report, and what was computed beside it: it is written. */
export async function clearReport(connection: DuckDBConnection, day: Day): Promise<void> {
  for (const table of ['outdated_reports', 'staged_reports'] as const)
    await kyselyOn(connection).deleteFrom(table).where('day', '=', day).execute();
}

/** Removes the marks of the marts of postbacks: they are written. */
export async function clearPostbackDays(connection: DuckDBConnection): Promise<void> {
  await kyselyOn(connection).deleteFrom('dirty_postback_days').execute();
}

/** Returns the as-of of the marts, up to date or not; undefined where there are none. */
export async function martsAsOf(connection: DuckDBConnection): Promise<Moment | undefined> {
  return readMetadata(connection, asOfKey);
}

/** Returns the as-of of the marts; undefined where there are none, or where their inputs have changed since. */
export async function currentMarts({ connection }: Pick<StateDatabase, 'connection'>): Promise<Moment | undefined> {
  const metadata = await readAllMetadata(connection);
  return metadata.get(martsRevisionKey) === String(revisionIn(metadata)) ? metadata.get(asOfKey) : undefined;
}

/**
 * Notes that the marts are computed as of a moment from the present revision; of one that they had before where none is
 * given.
 */
export async function recordMarts(connection: DuckDBConnection, asOf?: Moment): Promise<void> {
  if (asOf !== undefined) await writeMetadata(connection, asOfKey, asOf);
  await writeMetadata(connection, martsRevisionKey, String(await readRevision(connection)));
}

/**
 * Reports that were closed as of a moment after this one are closed again once their day is over: a run was given an
 * as-of of the future.
 */
export async function reopenReportsAfter(connection: DuckDBConnection, moment: Moment): Promise<void> {
  await reopenedReports(connection).where('as_of', '>', moment).execute();
}

/** Marks reports as unfinished, with an as-of before the end of their day; the caller adds the condition. */
function reopenedReports(connection: DuckDBConnection) {
  return kyselyOn(connection)
    .updateTable('mart_files')
    .set((file) => ({ as_of: file.cast<Moment>('day', 'timestamptz') }))
    .where('mart', '=', 'report_daily');
}

/**
 * Invalidates the marts that runs after `sinceRunId` wrote, so that the next run computes them again: an audit found
 * them wrong, and their cause may be mended without new files.
 */
export async function invalidateMartsSince(state: StateDatabase, sinceRunId: number): Promise<void> {
  const { connection } = state;
  await state.transaction(async () => {
    await markMartDays(connection, `SELECT day FROM mart_files WHERE run_id > ${sinceRunId}`);
    await reopenedReports(connection).where('run_id', '>', sinceRunId).execute();
    await clearMartsRevision(connection);
  }, 'marts invalidated');
}

/**
 * Drops mart files that cannot be restored and marks their days, so that the next run of the models writes them again.
 * To be run in a transaction.
 */
export async function invalidateMarts(connection: DuckDBConnection, lost: readonly NamedFile[]): Promise<void> {
  for (const { table, group, day, path } of lost) {
    if (table === 'event_files') continue;
    await kyselyOn(connection).deleteFrom(table).where('path', '=', path).execute();
    const days = `SELECT DATE '${day}' AS day`;
    if (group === 'report_daily') {
      await markReports(connection, 'clicks', 0, days);
      await kyselyOn(connection).deleteFrom('staged_reports').where('day', '=', day).execute();
    } else if (group.startsWith('postback')) await markPostbackDays(connection, group as PostbackMart, days);
    else await markMartDays(connection, days);
  }
  if (lost.length > 0) await clearMartsRevision(connection);
}

/**
 * Marks every day that has a mart of events or a report, also those that get nothing any more. What a backfill has
 * computed goes: its inputs are not known any more.
 */
export async function invalidateAllMarts(connection: DuckDBConnection): Promise<void> {
  await markMartDays(connection, 'SELECT day FROM mart_files');
  await markReports(connection, 'clicks', 0, `SELECT day FROM mart_files WHERE mart = 'report_daily'`);
  await kyselyOn(connection).deleteFrom('staged_reports').execute();
}

/**
 * Marks what offers' prices from a moment on have made: days of conversions, and reports, also those computed but not
 * in force.
 */
export async function invalidatePricedSince(connection: DuckDBConnection, moment: Moment): Promise<void> {
  const from = `TIMESTAMPTZ '${moment}'`;
  await markMartDays(connection, `SELECT occurred_at::DATE AS day FROM conversion_events WHERE occurred_at >= ${from}`);
  await markReports(
    connection,
    'offers',
    0,
    `SELECT day FROM mart_files WHERE mart = 'report_daily' AND day >= ${from}::DATE`,
  );
  await kyselyOn(connection).deleteFrom('staged_reports').where('day', '>=', dayOf(moment)).execute();
}

async function clearMartsRevision(connection: DuckDBConnection): Promise<void> {
  await deleteMetadata(connection, martsRevisionKey);
}
