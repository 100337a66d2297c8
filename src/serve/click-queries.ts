import { quotedPathList } from '../landing/sql-text.ts';

/** By the 8-byte key first: reading all click ids of a month takes ten times as long. */
export const clickQuery = (clicks: string) => `
  SELECT clicks.click_id, clicks.offer_id, offers.title AS offer_title, clicks.user_id, clicks.site_key,
    epoch_us(clicks.clicked_at)::VARCHAR AS clicked_at, clicks.country, clicks.device, clicks.sub1, clicks.sub2
  FROM ${clicks} AS clicks LEFT JOIN offers ON offers.offer_id = clicks.offer_id
  WHERE clicks.event_key = hash($1::VARCHAR) AND clicks.click_id = $1 AND clicks.site_key = $2`;

/** Which of the event files may have a click: asks each for its keys and for nothing else, a third of the time that all columns take. */
export const filesQuery = (files: readonly string[]) => `
  SELECT DISTINCT filename FROM read_parquet(${quotedPathList(files)}, hive_partitioning = false, filename = true) WHERE event_key = hash($1::VARCHAR)`;

/** The view `clicks`, of these files alone. */
export const clicksIn = (files: readonly string[]) => `(
  SELECT event.* REPLACE (coalesce(event.offer_id, named.offer_id) AS offer_id)
  FROM read_parquet(${quotedPathList(files)}, hive_partitioning = false) AS event
  LEFT JOIN offers AS named ON event.offer_id IS NULL AND named.source = event.source AND named.external_id = event.external_id)`;

export const conversionsQuery = `
  SELECT conversion_id, event_id, status, payout::VARCHAR AS payout,
    epoch_us(credited_at)::VARCHAR AS credited_at, epoch_us(reversed_at)::VARCHAR AS reversed_at
  FROM conversions WHERE click_id = $1 ORDER BY occurred_at, conversion_id`;

export const postbacksQuery = `
  SELECT kind AS event, reward::VARCHAR AS reward, state, attempts, epoch_us(last_attempt_at)::VARCHAR AS last_attempt_at, last_status
  FROM postbacks WHERE click_id = $1
  ORDER BY occurred_at, CASE kind WHEN 'credit' THEN 1 WHEN 'reject' THEN 2 ELSE 3 END, conversion_id`;
