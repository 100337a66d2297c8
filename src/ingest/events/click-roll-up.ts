import type { DuckDBConnection } from '@duckdb/node-api';
import { makeTempTable, type TempTable } from '../../duckdb/temp-table.ts';
import { withFunctions } from '../../sql/model-query.ts';
import { eventRelation } from '../../warehouse/event-files.ts';
import { markMartDays } from '../../warehouse/stale-partitions.ts';

/** The clicks of this run by hour and offer, as `click_hourly` has them of all runs. */
export type NewClickHours = TempTable<'new_click_hourly'>;

/**
 * Hours are counted by number and named after: truncating two million timestamps by calendar takes longer than counting
 * them.
 */
const microsecondsPerHour = 3_600_000_000;
/**
 * Integer division rounds towards zero, so hours count from the earliest one that a click can have, 0001-01-01: as long
 * before 1970.
 */
const earliestMicroseconds = -62_135_596_800_000_000n;

/**
 * Adds new clicks to `click_hourly`, one row per UTC hour and offer as the clicks name it. Touches only the hours that
 * the new clicks lie in, whatever history holds, and marks their days.
 */
export async function rollUpClicks(
  connection: DuckDBConnection,
  newFiles: readonly string[],
): Promise<NewClickHours | undefined> {
  if (newFiles.length === 0) return undefined;
  const newHours = await makeTempTable(
    connection,
    'new_click_hourly',
    withFunctions(`SELECT make_timestamptz(hour_number * ${microsecondsPerHour} + ${earliestMicroseconds}) AS hour, coalesce(offer_id, 0) AS offer_id,
       name_part(offer_id, source) AS source, name_part(offer_id, external_id) AS external_id, sum(clicks)::BIGINT AS clicks
     FROM (
       SELECT (epoch_us(clicked_at) - ${earliestMicroseconds}) // ${microsecondsPerHour} AS hour_number, offer_id, source, external_id, count(*) AS clicks
       FROM ${eventRelation('clicks', newFiles)} GROUP BY ALL)
     GROUP BY ALL`),
  );
  const isTouched = `hour IN (SELECT hour FROM ${newHours})`;
  const touched = await makeTempTable(
    connection,
    'touched_click_hourly',
    `SELECT hour, offer_id, source, external_id, sum(clicks)::BIGINT AS clicks
     FROM (FROM ${newHours} UNION ALL FROM click_hourly WHERE ${isTouched})
     GROUP BY ALL`,
  );
  await connection.run(`DELETE FROM click_hourly WHERE ${isTouched}`);
  await connection.run(`INSERT INTO click_hourly FROM ${touched}`);
  await markMartDays(connection, `SELECT hour::DATE AS day FROM ${newHours}`);
  return newHours;
}
