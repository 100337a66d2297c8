import type { DuckDBConnection } from '@duckdb/node-api';
import { eventRelation } from '../../warehouse/event-files.ts';

/** Hours are counted by number and named after: truncating two million timestamps by calendar takes longer than counting them. */
const microsecondsPerHour = 3_600_000_000;
/** Integer division rounds towards zero, so hours count from the earliest one that a click can have, 0001-01-01: as long before 1970. */
const earliestMicroseconds = -62_135_596_800_000_000n;

/**
 * Adds new clicks to `click_hourly`, one row per UTC hour and offer as the clicks name it. Touches only the hours that
 * the new clicks lie in, whatever history holds, and marks their days.
 */
export async function rollUpClicks(connection: DuckDBConnection, newFiles: readonly string[]): Promise<void> {
  if (newFiles.length === 0) return;
  await connection.run(
    `CREATE OR REPLACE TEMP TABLE new_click_hourly AS
     SELECT make_timestamptz(hour_number * ${microsecondsPerHour} + ${earliestMicroseconds}) AS hour, coalesce(offer_id, 0) AS offer_id,
       CASE WHEN offer_id IS NULL THEN source ELSE '' END AS source,
       CASE WHEN offer_id IS NULL THEN external_id ELSE '' END AS external_id,
       sum(clicks)::BIGINT AS clicks
     FROM (
       SELECT (epoch_us(clicked_at) - ${earliestMicroseconds}) // ${microsecondsPerHour} AS hour_number, offer_id, source, external_id, count(*) AS clicks
       FROM ${eventRelation('clicks', newFiles)} GROUP BY ALL)
     GROUP BY ALL`,
  );
  await connection.run(
    `CREATE OR REPLACE TEMP TABLE touched_click_hourly AS
     SELECT hour, offer_id, source, external_id, sum(clicks)::BIGINT AS clicks
     FROM (FROM new_click_hourly UNION ALL FROM click_hourly WHERE hour IN (SELECT hour FROM new_click_hourly))
     GROUP BY ALL`,
  );
  await connection.run('DELETE FROM click_hourly WHERE hour IN (SELECT hour FROM new_click_hourly)');
  await connection.run('INSERT INTO click_hourly FROM touched_click_hourly');
  await connection.run('INSERT OR IGNORE INTO touched_days SELECT DISTINCT hour::DATE FROM new_click_hourly');
}
