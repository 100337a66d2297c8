import type { DuckDBConnection } from '@duckdb/node-api';
import { queryRows } from '../../duckdb/dialect/rows.ts';
import { eventRelation, withPlace } from '../../warehouse/event-files.ts';

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
export async function attributeConversions(
  connection: DuckDBConnection,
  allClickFiles: readonly string[],
  newClickFiles: readonly string[],
): Promise<void> {
  await connection.run(
    `CREATE OR REPLACE TEMP TABLE unknown_clicks AS
     SELECT click_id FROM new_conversion_events
     EXCEPT
     SELECT click_id FROM conversion_clicks WHERE click_id IN (SELECT click_id FROM new_conversion_events)`,
  );
  await connection.run(
    'CREATE OR REPLACE TEMP TABLE sought_clicks AS SELECT click_id FROM unknown_clicks UNION SELECT click_id FROM waiting_clicks',
  );
  const [sought] = await queryRows<{ rows: number; unknown: number }>(
    connection,
    'SELECT count(*) AS rows, (SELECT count(*) FROM unknown_clicks) AS unknown FROM sought_clicks',
  );
  if ((sought?.rows ?? 0) === 0) return findClicks(connection, []);
  await findClicks(connection, (sought?.unknown ?? 0) > 0 ? allClickFiles : newClickFiles);
  await connection.run('INSERT INTO conversion_clicks FROM found_clicks');
  await connection.run('DELETE FROM waiting_clicks WHERE click_id IN (SELECT click_id FROM found_clicks)');
  await connection.run(
    'INSERT OR IGNORE INTO waiting_clicks SELECT click_id FROM unknown_clicks WHERE click_id NOT IN (SELECT click_id FROM found_clicks)',
  );
  await touchDaysOf(
    connection,
    'SELECT conversion_id FROM conversion_events WHERE click_id IN (SELECT click_id FROM found_clicks)',
  );
}

/** Fills `found_clicks` from these event files: first only the 8-byte key of every click, then whole rows of the files that hold one. */
async function findClicks(connection: DuckDBConnection, paths: readonly string[]): Promise<void> {
  const holding =
    paths.length === 0
      ? []
      : await queryRows<{ filename: string }>(
          connection,
          `SELECT DISTINCT filename FROM ${eventRelation('clicks', paths, withPlace)} WHERE event_key IN (SELECT hash(click_id) FROM sought_clicks)`,
        );
  await connection.run(
    `CREATE OR REPLACE TEMP TABLE found_clicks AS
     SELECT click_id, offer_id, source, external_id, site_key, user_id, clicked_at
     FROM ${eventRelation(
       'clicks',
       holding.map(({ filename }) => filename),
     )}
     WHERE event_key IN (SELECT hash(click_id) FROM sought_clicks) AND click_id IN (SELECT click_id FROM sought_clicks)`,
  );
}

/** Marks every day that any event of these conversions lies on: a late credit moves its conversion to another day. */
export async function touchDaysOf(connection: DuckDBConnection, conversionIds: string): Promise<void> {
  await connection.run(
    `INSERT OR IGNORE INTO touched_days SELECT DISTINCT occurred_at::DATE FROM conversion_events WHERE conversion_id IN (${conversionIds})`,
  );
}
