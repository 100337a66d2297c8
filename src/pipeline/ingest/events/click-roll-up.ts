import type { DuckDBConnection } from '@duckdb/node-api';
import { makeTempTable, type TempTable } from '../../../kit/duckdb/temp-table.ts';
import type { EventEngine } from '../engine/event-engine.ts';
import { markMartDays } from '../../warehouse/dirty-partitions.ts';

/** The clicks of this run by hour and offer, as `click_hourly` has them of all runs. */
export type NewClickHours = TempTable<'new_click_hourly'>;

/**
 * Adds new clicks to `click_hourly`, one row per UTC hour and offer as the clicks name it. Touches only the hours of
 * the new clicks, whatever history holds, and marks their days.
 */
export async function rollUpClicks(
  connection: DuckDBConnection,
  engine: EventEngine,
  newFiles: readonly string[],
): Promise<NewClickHours | undefined> {
  if (newFiles.length === 0) return undefined;
  const newHours = await makeTempTable(connection, 'new_click_hourly', await engine.clickHours(newFiles));
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
