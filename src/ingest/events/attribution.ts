import type { DuckDBConnection } from '@duckdb/node-api';
import { queryRows } from '../../duckdb/dialect/rows.ts';
import { countRows, makeTempTable, type TempTable } from '../../duckdb/temp-table.ts';
import { markDaysOfConversions } from '../../warehouse/stale-partitions.ts';
import { eventRelation, withPlace } from '../../warehouse/event-files.ts';

const eventFields = 'conversion_id, kind, click_id, occurred_at, event_id, payout, reason, file_id';

/** This run's conversion events, all of which are new. */
export type NewConversionEvents = TempTable<'new_conversion_events'>;
/** The clicks of this run or an earlier one that conversion events named and that are known only now. */
export type FoundClicks = TempTable<'found_clicks'>;
type SoughtClicks = TempTable<'sought_clicks'>;

/** Writes the run's new conversion events into the state and marks the days they may change. */
export async function recordConversionEvents(
  connection: DuckDBConnection,
  newFiles: readonly string[],
): Promise<NewConversionEvents> {
  const newEvents = await makeTempTable(
    connection,
    'new_conversion_events',
    `SELECT ${eventFields} FROM ${eventRelation('conversions', newFiles)}`,
  );
  await connection.run(`INSERT INTO conversion_events (${eventFields}) FROM ${newEvents}`);
  await markDaysOfConversions(connection, `SELECT conversion_id FROM ${newEvents}`);
  return newEvents;
}

/**
 * Finds the clicks that conversion events name, once they have been ingested: for this run's events among all clicks,
 * for older ones that still wait among this run's clicks only. Offers are resolved by the models, so a conversion
 * whose offer is still unknown resolves by itself.
 */
export async function attributeConversions(
  connection: DuckDBConnection,
  newEvents: NewConversionEvents,
  allClickFiles: readonly string[],
  newClickFiles: readonly string[],
): Promise<FoundClicks> {
  const unknown = await makeTempTable(
    connection,
    'unknown_clicks',
    `SELECT click_id FROM ${newEvents}
     EXCEPT
     SELECT click_id FROM conversion_clicks WHERE click_id IN (SELECT click_id FROM ${newEvents})`,
  );
  const sought = await makeTempTable(
    connection,
    'sought_clicks',
    `SELECT click_id FROM ${unknown} UNION SELECT click_id FROM waiting_clicks`,
  );
  if ((await countRows(connection, sought)) === 0) return findClicks(connection, sought, []);
  const found = await findClicks(
    connection,
    sought,
    (await countRows(connection, unknown)) > 0 ? allClickFiles : newClickFiles,
  );
  await connection.run(`INSERT INTO conversion_clicks FROM ${found}`);
  await connection.run(`DELETE FROM waiting_clicks WHERE click_id IN (SELECT click_id FROM ${found})`);
  await connection.run(
    `INSERT OR IGNORE INTO waiting_clicks SELECT click_id FROM ${unknown} WHERE click_id NOT IN (SELECT click_id FROM ${found})`,
  );
  await markDaysOfConversions(
    connection,
    `SELECT conversion_id FROM conversion_events WHERE click_id IN (SELECT click_id FROM ${found})`,
  );
  return found;
}

/**
 * The sought clicks that are in these event files: first only the 8-byte key of every click, then whole rows of the
 * files that hold one.
 */
async function findClicks(
  connection: DuckDBConnection,
  sought: SoughtClicks,
  paths: readonly string[],
): Promise<FoundClicks> {
  const isSought = `event_key IN (SELECT hash(click_id) FROM ${sought})`;
  const holding =
    paths.length === 0
      ? []
      : await queryRows<{ filename: string }>(
          connection,
          `SELECT DISTINCT filename FROM ${eventRelation('clicks', paths, withPlace)} WHERE ${isSought}`,
        );
  const clicks = eventRelation(
    'clicks',
    holding.map(({ filename }) => filename),
  );
  return makeTempTable(
    connection,
    'found_clicks',
    `SELECT click_id, offer_id, source, external_id, site_key, user_id, clicked_at
     FROM ${clicks} WHERE ${isSought} AND click_id IN (SELECT click_id FROM ${sought})`,
  );
}
