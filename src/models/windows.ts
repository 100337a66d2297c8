import type { DuckDBConnection } from '@duckdb/node-api';
import type { DataDirectory } from '../config/data-directory.ts';
import { addDays, dayOf, startOfDay, type Moment } from '../time/moment.ts';
import { eventFilePaths, eventRelation } from '../warehouse/event-files.ts';
import { scopeConversions } from '../sql/handed-in.ts';
import { runModel } from '../sql/run-model.ts';

/** Begin of W: midnight, UTC, of the day before as-of. */
export function windowStart(asOf: Moment): Moment {
  return startOfDay(addDays(dayOf(asOf), -1));
}

/** What a query about the figures as of a moment may ask for. */
export function figureParameters(asOf: Moment): { as_of: Moment; window_start: Moment } {
  return { as_of: asOf, window_start: windowStart(asOf) };
}

/** Fills `target` with the clicks by hour and offer in [from, as-of]. Reads events of as-of's own hour only. */
export async function loadClicks(
  connection: DuckDBConnection,
  data: DataDirectory,
  target: string,
  from: Moment,
  asOf: Moment,
): Promise<void> {
  const edge = await eventFilePaths(connection, data, 'clicks', { from: `${asOf.slice(0, 13)}:00:00Z`, to: asOf });
  await connection.run(
    `CREATE OR REPLACE TEMP VIEW edge_clicks AS SELECT clicked_at, offer_id, source, external_id FROM ${eventRelation('clicks', edge)}`,
  );
  await runModel(connection, 'staging', 'clicks_as_of', `CREATE OR REPLACE TEMP TABLE ${target} AS`, {
    from,
    as_of: asOf,
  });
}

/** Fills `target` with the conversions that `scope` selects (a query for `conversion_id`), as they stand at as-of. */
export async function loadConversions(
  connection: DuckDBConnection,
  target: string,
  scope: string,
  asOf: Moment,
): Promise<void> {
  await scopeConversions(connection, scope);
  await runModel(connection, 'staging', 'conversions_as_of', `CREATE OR REPLACE TEMP TABLE ${target} AS`, {
    as_of: asOf,
  });
}

/**
 * Computes the 2-day figures as of a moment by running `offer_stats_2d` behind `prefix`. Any past moment takes the same
 * path.
 */
export async function computeStats(
  connection: DuckDBConnection,
  data: DataDirectory,
  prefix: string,
  asOf: Moment,
): Promise<void> {
  const from = windowStart(asOf);
  await loadClicks(connection, data, 'window_clicks', from, asOf);
  const scope = `SELECT DISTINCT conversion_id FROM conversion_events WHERE kind = 'credit' AND occurred_at <= TIMESTAMPTZ '${asOf}'
    AND (occurred_at >= TIMESTAMPTZ '${from}' OR occurred_at > TIMESTAMPTZ '${asOf}' - INTERVAL 48 HOURS)`;
  await loadConversions(connection, 'window_conversions', scope, asOf);
  await runModel(connection, 'marts', 'offer_stats_2d', prefix, figureParameters(asOf));
}
