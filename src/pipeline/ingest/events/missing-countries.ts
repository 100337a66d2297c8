import { makeTempTable } from '../../../kit/duckdb/temp-table.ts';
import { eventKey } from '../../../kit/vocabulary/event-key.ts';
import { markDaysOfConversions } from '../../warehouse/dirty-partitions.ts';
import { filesThatMayHold, type KeyRunsOf } from '../../warehouse/keys/event-keys.ts';
import { deleteMetadata, readMetadata } from '../../warehouse/metadata.ts';
import type { EventEngine } from '../engine/event-engine.ts';

/** Set by the migrations that add the columns, where there were clicks of conversions before. */
const missing = 'clicks_without_country';

/**
 * Reads country, device and tracking values of the clicks of conversions that an earlier version found without them,
 * once, and marks the days of these conversions. Clicks whose events retention has removed stay without. Resolves to
 * whether it did.
 */
export async function readMissingCountries(
  keyRuns: Omit<KeyRunsOf, 'effects'>,
  engine: Pick<EventEngine, 'findClicks'>,
): Promise<boolean> {
  const { connection } = keyRuns;
  if ((await readMetadata(connection, missing)) === undefined) return false;
  const sought = await makeTempTable(connection, 'clicks_without_country', 'SELECT click_id FROM conversion_clicks');
  const files = await filesThatMayHold(keyRuns, 'clicks', `SELECT ${eventKey.clicks} AS event_key FROM ${sought}`);
  const found = await engine.findClicks(sought, files);
  await connection.run(
    `UPDATE conversion_clicks SET country = found.country, device = found.device, sub1 = found.sub1, sub2 = found.sub2
     FROM (${found}) AS found WHERE found.click_id = conversion_clicks.click_id`,
  );
  await markDaysOfConversions(connection, 'SELECT conversion_id FROM conversion_events');
  await deleteMetadata(connection, missing);
  return true;
}
