import type { DuckDBConnection } from '@duckdb/node-api';
import { quotedPathList } from '../landing/sql-text.ts';
import { queryRows } from '../warehouse/dialect/rows.ts';
import { eventRelation } from '../warehouse/event-files.ts';

const eventFields = 'conversion_id, kind, click_id, occurred_at, event_id, payout, reason, file_id';

/** Takes the run's new conversion events into the state and marks the days they may change. */
export async function recordConversionEvents(connection: DuckDBConnection, newFiles: readonly string[]): Promise<void> {
  const relation = eventRelation('conversions', newFiles);
  await connection.run(`CREATE OR REPLACE TEMP TABLE new_conversion_events AS SELECT ${eventFields} FROM ${relation}`);
  await connection.run(`INSERT INTO conversion_events (${eventFields}) FROM new_conversion_events`);
  await touchDaysOf(connection, 'SELECT conversion_id FROM new_conversion_events');
}

/**
 * Finds the clicks that conversion events name, once they have been ingested: for this run's events among all clicks,
 * for older ones that still wait among this run's clicks only. Offers are resolved by the models, so a conversion
 * whose offer is still unknown resolves by itself.
 */
export async function attributeConversions(connection: DuckDBConnection, allClickFiles: readonly string[], newClickFiles: readonly string[]): Promise<void> {
  const arrived = await waitForNewClicks(connection);
  const [waiting] = await queryRows<{ rows: number }>(connection, 'SELECT count(*) AS rows FROM waiting_clicks');
  const searched = arrived > 0 ? allClickFiles : newClickFiles;
  if ((waiting?.rows ?? 0) === 0 || searched.length === 0) return;
  // First only the 8-byte key of every click, then whole rows of the files that hold one.
  const holding = await queryRows<{ filename: string }>(
    connection,
    `SELECT DISTINCT filename FROM read_parquet(${quotedPathList(searched)}, hive_partitioning = false, filename = true)
     WHERE event_key IN (SELECT hash(click_id) FROM waiting_clicks)`,
  );
  if (holding.length === 0) return;
  await connection.run(
    `CREATE OR REPLACE TEMP TABLE found_clicks AS
     SELECT click_id, offer_id, source, external_id, site_key, user_id, clicked_at
     FROM ${eventRelation('clicks', holding.map(({ filename }) => filename))}
     WHERE event_key IN (SELECT hash(click_id) FROM waiting_clicks) AND click_id IN (SELECT click_id FROM waiting_clicks)`,
  );
  await connection.run('INSERT INTO conversion_clicks FROM found_clicks');
  await connection.run('DELETE FROM waiting_clicks WHERE click_id IN (SELECT click_id FROM found_clicks)');
  await touchDaysOf(connection, 'SELECT conversion_id FROM conversion_events WHERE click_id IN (SELECT click_id FROM found_clicks)');
}

/** Adds the clicks that this run's events name and that are not known yet to `waiting_clicks`; returns how many those are. */
async function waitForNewClicks(connection: DuckDBConnection): Promise<number> {
  await connection.run(
    `CREATE OR REPLACE TEMP TABLE unknown_clicks AS
     SELECT click_id FROM new_conversion_events
     EXCEPT
     SELECT click_id FROM conversion_clicks WHERE click_id IN (SELECT click_id FROM new_conversion_events)`,
  );
  await connection.run('INSERT OR IGNORE INTO waiting_clicks FROM unknown_clicks');
  const [unknown] = await queryRows<{ rows: number }>(connection, 'SELECT count(*) AS rows FROM unknown_clicks');
  return unknown?.rows ?? 0;
}

/** Marks every day that any event of these conversions lies on: a late credit moves its conversion to another day. */
export async function touchDaysOf(connection: DuckDBConnection, conversionIds: string): Promise<void> {
  await connection.run(
    `INSERT OR IGNORE INTO touched_days SELECT DISTINCT occurred_at::DATE FROM conversion_events WHERE conversion_id IN (${conversionIds})`,
  );
}
