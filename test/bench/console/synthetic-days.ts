import type { DuckDBConnection } from '@duckdb/node-api';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { makeTempTable } from '../../../src/kit/duckdb/temp-table.ts';
import { rowGroupRows } from '../../../src/pipeline/models/day-marts.ts';
import { figureParameters } from '../../../src/pipeline/models/windows.ts';
import { modelQuery } from '../../../src/pipeline/sql/model-query.ts';
import { quoted } from '../../../src/kit/text/sql-text.ts';
import { addDays, type Day, type Moment } from '../../../src/kit/time/moment.ts';
import { textKey } from '../../../src/kit/vocabulary/event-key.ts';
import { eventRowGroupRows } from '../../../src/pipeline/warehouse/event-files.ts';
import { largeCatalog } from '../serve/serving-data.ts';

export const networkSites = 50;

/** The views over files of a day whose files are written here. */
export const filledMarts = [
  'conversions',
  'offer_hourly',
  'offer_daily',
  'report_daily',
  'postbacks',
  'postback_attempts',
] as const;

/** A day of history, in whose clicks no other day's numbers are used. */
export interface SyntheticDay {
  date: Day;
  /** Number of its first click. */
  first: number;
  count: number;
  /** Files of its clicks: one where compaction has been, many where refreshes have left theirs. */
  pieces: number;
  /** Its last moment, or the snapshot's as-of. */
  asOf: Moment;
}

/** Makes what days are drawn from and gather in, and empties the tables that they fill. */
export async function beginDays(connection: DuckDBConnection): Promise<void> {
  await makeTempTable(
    connection,
    'drawn_offers',
    'SELECT row_number() OVER (ORDER BY hash(offer_id)) AS place, offer_id, source, external_id, payout FROM offers',
  );
  await makeTempTable(
    connection,
    'drawn_sites',
    'SELECT row_number() OVER (ORDER BY site_key) AS place, site_key FROM sites',
  );
  // What the ranks of a day look at: the pipeline's own table of the state.
  await connection.run('CREATE OR REPLACE TEMP VIEW offer_versions AS FROM offer_history');
  await connection.run('DELETE FROM network_hourly; DELETE FROM site_daily; DELETE FROM offer_stats_2d');
}

/** Writes a day's files; returns their paths within the folder. Rows of the tables are added. */
export async function writeDay(connection: DuckDBConnection, folder: string, day: SyntheticDay): Promise<string[]> {
  await makeTempTable(connection, 'day_events', eventsOf(day));
  const paths = await writeClicks(connection, folder, day);
  await makeTempTable(
    connection,
    'day_clicks',
    `SELECT date_trunc('hour', clicked_at) AS hour, known_id AS offer_id, count(*) AS clicks FROM day_events GROUP BY ALL`,
  );
  await makeTempTable(
    connection,
    'day_site_clicks',
    `SELECT DATE '${day.date}' AS day, site_key, count(*) AS clicks FROM day_events GROUP BY ALL`,
  );
  await makeTempTable(connection, 'day_conversions', conversionsOf(day));
  await makeTempTable(connection, 'site_days', modelQuery('staging', 'site_days_as_of', { as_of: day.asOf }));
  await makeStats(connection, day);
  await makeTempTable(connection, 'day_postbacks', postbacksOf(day));
  await connection.run(`INSERT INTO network_hourly ${modelQuery('marts', 'network_hourly', { as_of: day.asOf })}`);
  await connection.run(`INSERT INTO site_daily ${modelQuery('marts', 'site_daily', { as_of: day.asOf })}`);
  for (const mart of filledMarts) {
    const path = `marts/${mart}/${day.date}-run-00000002.parquet`;
    await mkdir(join(folder, 'marts', mart), { recursive: true });
    const query =
      mart === 'postbacks'
        ? 'FROM day_postbacks ORDER BY click_id'
        : mart === 'postback_attempts'
          ? attempts
          : modelQuery('marts', mart, { report_date: day.date, as_of: day.asOf });
    await connection.run(
      `COPY (${query}) TO ${quoted(join(folder, path))} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${rowGroupRows})`,
    );
    paths.push(path);
  }
  return paths;
}

/** A number between 0 and 1 that looks random. */
function drawn(salt: number): string {
  return `(hash(number, ${salt}) / 18446744073709551615.0)`;
}

/**
 * Few offers have most clicks, the first of them one in seventeen. One click in five names its offer as its source
 * does, which takes the catalog to resolve.
 */
function eventsOf({ date, first, count, asOf }: SyntheticDay): string {
  return `
    WITH numbers AS (
      SELECT range AS number, format('{:016x}', hash(range)) AS click_id FROM range(${first}, ${first + count})
    ),
    placed AS MATERIALIZED (
      SELECT number, click_id,
        1 + floor(${largeCatalog.offers} * ${drawn(1)} ** 3)::BIGINT AS offer_place,
        1 + floor(${networkSites} * ${drawn(2)} ** 2)::BIGINT AS site_place
      FROM numbers
    )
    SELECT number, click_id, offer.offer_id AS known_id, offer.payout AS offer_payout,
      CASE WHEN number % 5 <> 0 THEN offer.offer_id END AS offer_id,
      CASE WHEN number % 5 = 0 THEN offer.source END AS source,
      CASE WHEN number % 5 = 0 THEN offer.external_id END AS external_id,
      site.site_key,
      'user-' || hash(number + 2) % 1000000 AS user_id,
      TIMESTAMPTZ '${date} 00:00:00+00' + to_microseconds((number - ${first}) * date_diff('microsecond', TIMESTAMPTZ '${date} 00:00:00+00', TIMESTAMPTZ '${asOf}') // ${count}) AS clicked_at,
      (['US', 'GB', 'DE', 'FR', 'BR', 'JP'])[1 + (hash(number + 3) % 6)::INTEGER] AS country,
      (['android', 'ios', 'desktop'])[1 + (hash(number + 4) % 3)::INTEGER] AS device,
      '203.0.113.' || hash(number + 5) % 256 AS ip,
      'Mozilla/5.0 (Linux; Android 14) Mobile/' || hash(number + 6) % 500 AS user_agent,
      'campaign-' || number % 40 AS sub1, NULL::VARCHAR AS sub2,
      ${textKey('click_id')} AS event_key
    FROM placed
    JOIN drawn_offers AS offer ON offer.place = placed.offer_place
    JOIN drawn_sites AS site ON site.place = placed.site_place`;
}

/** Sorted by key where a day is one file; else as they came. */
async function writeClicks(
  connection: DuckDBConnection,
  folder: string,
  { date, first, count, pieces }: SyntheticDay,
): Promise<string[]> {
  const paths: string[] = [];
  for (let piece = 0; piece < pieces; piece++) {
    const path = `events/clicks/${date}-run-${pieces === 1 ? '00000002-full' : `${String(piece + 3).padStart(8, '0')}-0`}.parquet`;
    const [from, to] = [piece, piece + 1].map((place) => first + Math.floor((count * place) / pieces));
    await connection.run(
      `COPY (
         SELECT * EXCLUDE (number, known_id, offer_payout), 1::BIGINT AS file_id, 0::UTINYINT AS warnings, NULL::VARCHAR AS reject
         FROM day_events WHERE number >= ${from} AND number < ${to} ${pieces === 1 ? 'ORDER BY event_key, click_id' : ''}
       ) TO ${quoted(join(folder, path))} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${eventRowGroupRows})`,
    );
    paths.push(path);
  }
  return paths;
}

/** One click in a hundred converts within twenty minutes, on its own day; one of these in twenty-five counts nowhere. */
function conversionsOf({ asOf }: SyntheticDay): string {
  return `
    SELECT conversion_id, click_id, status, offer_id, site_key, user_id, event_id,
      CASE WHEN status <> 'unattributed' THEN payout END AS payout,
      CASE WHEN status IN ('credited', 'charged_back') THEN occurred_at END AS credited_at,
      CASE WHEN status IN ('rejected', 'charged_back') THEN occurred_at END AS reversed_at,
      clicked_at, occurred_at
    FROM (
      SELECT 'cv-' || click_id AS conversion_id, click_id, known_id AS offer_id, site_key, user_id, NULL::VARCHAR AS event_id,
        CASE hash(number + 8) % 100 WHEN 0 THEN 'rejected' WHEN 1 THEN 'rejected' WHEN 2 THEN 'charged_back' WHEN 3 THEN 'unattributed' ELSE 'credited' END AS status,
        offer_payout::DECIMAL(15, 6) AS payout, clicked_at,
        least(clicked_at + to_seconds((hash(number + 9) % 1200)::INTEGER), TIMESTAMPTZ '${asOf}') AS occurred_at
      FROM day_events
      WHERE hash(number + 7) % 100 = 0
    )`;
}

/** Figures of the two days up to the day's as-of, as `offer_stats_2d` is left with those of the last. */
async function makeStats(connection: DuckDBConnection, { date, asOf }: SyntheticDay): Promise<void> {
  const before = addDays(date, -1);
  for (const [window, day, time] of [
    ['window_clicks', 'day_clicks', 'hour'],
    ['window_conversions', 'day_conversions', 'occurred_at'],
  ] as const) {
    await connection.run(`CREATE TEMP TABLE IF NOT EXISTS ${window} AS FROM ${day} LIMIT 0`);
    await connection.run(
      `DELETE FROM ${window} WHERE ${time} < TIMESTAMPTZ '${before} 00:00:00+00'; INSERT INTO ${window} FROM ${day}`,
    );
  }
  await makeTempTable(connection, 'day_stats', modelQuery('marts', 'offer_stats_2d', figureParameters(asOf)));
  await connection.run('DELETE FROM offer_stats_2d; INSERT INTO offer_stats_2d FROM day_stats');
}

/** One in three hundred is dead; of the last hour of an open day half wait. */
function postbacksOf({ asOf }: SyntheticDay): string {
  return `
    SELECT 'pb_' || md5(conversion_id) AS webhook_id, conversion_id, CASE status WHEN 'rejected' THEN 'reject' ELSE 'credit' END AS kind,
      click_id, site_key, user_id, offer_id, (payout * 700)::DECIMAL(24, 4) AS reward, occurred_at,
      occurred_at + INTERVAL 20 MINUTES AS enqueued_at, state,
      CASE state WHEN 'dead' THEN 12 WHEN 'pending' THEN 0 ELSE 1 END AS attempts,
      CASE WHEN state <> 'pending' THEN occurred_at + INTERVAL 21 MINUTES END AS last_attempt_at,
      CASE state WHEN 'dead' THEN 500 WHEN 'delivered' THEN 200 END AS last_status,
      CASE state WHEN 'dead' THEN 'http_status' END AS last_error,
      CASE WHEN state = 'delivered' THEN occurred_at + INTERVAL 21 MINUTES END AS delivered_at,
      CASE WHEN state = 'pending' THEN occurred_at + INTERVAL 22 MINUTES END AS next_attempt_at
    FROM (
      SELECT *, CASE
          WHEN occurred_at > TIMESTAMPTZ '${asOf}' - INTERVAL 1 HOUR AND hash(conversion_id) % 2 = 0 AND '${asOf}' NOT LIKE '%23:59:59.999999%' THEN 'pending'
          WHEN hash(conversion_id) % 300 = 1 THEN 'dead'
          ELSE 'delivered'
        END AS state
      FROM day_conversions
      WHERE status <> 'unattributed'
    )`;
}

const attempts = `
  SELECT webhook_id, attempt::INTEGER AS attempt, site_key, last_attempt_at - to_minutes((attempts - attempt)::INTEGER) AS started_at,
    40::INTEGER AS duration_ms, last_status AS status, last_error AS error, 'receiver.example:443' AS host
  FROM day_postbacks, unnest(generate_series(1, attempts)) AS tried(attempt)
  ORDER BY webhook_id, attempt`;
