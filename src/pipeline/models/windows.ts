import type { DuckDBConnection } from '@duckdb/node-api';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { makeTempTable, makeTempView, type TempTable } from '../../kit/duckdb/temp-table.ts';
import { addDays, dayOf, startOfDay, type Moment } from '../../kit/time/moment.ts';
import { kyselyOn } from '../warehouse/kysely.ts';
import { eventFilePaths, eventRelation } from '../warehouse/event-files.ts';
import { scopeConversions } from '../sql/run-inputs.ts';
import { modelQuery } from '../sql/model-query.ts';

/** Returns the begin of W: midnight, UTC, of the day before as-of. */
export function windowStart(asOf: Moment): Moment {
  return startOfDay(addDays(dayOf(asOf), -1));
}

/** Returns the parameters of queries about figures as of a moment. */
export function figureParameters(asOf: Moment): { as_of: Moment; window_start: Moment } {
  return { as_of: asOf, window_start: windowStart(asOf) };
}

/** Makes a table of the clicks by hour and offer in [from, as-of]. Reads events of as-of's hour only. */
export async function loadClicks<Name extends string>(
  connection: DuckDBConnection,
  data: DataDirectory,
  name: Name,
  from: Moment,
  asOf: Moment,
): Promise<TempTable<Name>> {
  const edge = await eventFilePaths(connection, data, 'clicks', { from: `${asOf.slice(0, 13)}:00:00Z`, to: asOf });
  await makeTempView(
    connection,
    'edge_clicks',
    `SELECT clicked_at, offer_id, source, external_id FROM ${eventRelation('clicks', edge)}`,
  );
  return makeTempTable(connection, name, modelQuery('staging', 'clicks_as_of', { from, as_of: asOf }));
}

/** Makes a table of the conversions that `scope` selects (a query for `conversion_id`), as of as-of. */
export async function loadConversions<Name extends string>(
  connection: DuckDBConnection,
  name: Name,
  scope: string,
  asOf: Moment,
): Promise<TempTable<Name>> {
  await scopeConversions(connection, scope);
  return makeTempTable(connection, name, modelQuery('staging', 'conversions_as_of', { as_of: asOf }));
}

/** Input of the 2-day figures as of a moment. */
interface FigureWindow {
  asOf: Moment;
  clicks: TempTable<'window_clicks'>;
  conversions: TempTable<'window_conversions'>;
}

/** The 2-day figures that `report_daily` writes for a day. */
export type DayStats = TempTable<'day_stats'>;

/** Computes the 2-day figures as of any past moment for a report. */
export async function makeDayStats(connection: DuckDBConnection, data: DataDirectory, asOf: Moment): Promise<DayStats> {
  return makeTempTable(connection, 'day_stats', statsQuery(await loadWindow(connection, data, asOf)));
}

/** Clicks by hour and conversions as of a moment, with at least those of its window. */
interface RowsAsOf {
  clicks: TempTable<string>;
  conversions: TempTable<string>;
}

/** Replaces the 2-day figures by those of the run's as-of. Only conversions of the window count. */
export async function replaceStats(connection: DuckDBConnection, rows: RowsAsOf, asOf: Moment): Promise<void> {
  const window: FigureWindow = {
    asOf,
    clicks: await makeTempTable(
      connection,
      'window_clicks',
      `FROM ${rows.clicks} WHERE hour >= TIMESTAMPTZ '${windowStart(asOf)}'`,
    ),
    // Trend and rank need 48 hours, which begin before the window.
    conversions: await makeTempTable(
      connection,
      'window_conversions',
      `FROM ${rows.conversions} WHERE credited_at > TIMESTAMPTZ '${asOf}' - INTERVAL 48 HOURS`,
    ),
  };
  await kyselyOn(connection).deleteFrom('offer_stats_2d').execute();
  await connection.run(`INSERT INTO offer_stats_2d ${statsQuery(window)}`);
}

async function loadWindow(connection: DuckDBConnection, data: DataDirectory, asOf: Moment): Promise<FigureWindow> {
  return {
    asOf,
    clicks: await loadClicks(connection, data, 'window_clicks', windowStart(asOf), asOf),
    conversions: await loadConversions(connection, 'window_conversions', windowConversions(asOf), asOf),
  };
}

/** Returns a query for the conversions that figures as of a moment count where they are credited. */
export function windowConversions(asOf: Moment): string {
  return `SELECT DISTINCT conversion_id FROM conversion_events WHERE kind = 'credit' AND occurred_at <= TIMESTAMPTZ '${asOf}'
    AND (occurred_at >= TIMESTAMPTZ '${windowStart(asOf)}' OR occurred_at > TIMESTAMPTZ '${asOf}' - INTERVAL 48 HOURS)`;
}

function statsQuery({ asOf }: FigureWindow): string {
  return modelQuery('marts', 'offer_stats_2d', figureParameters(asOf));
}
