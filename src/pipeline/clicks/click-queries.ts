import { quotedPathList } from '../../kit/text/sql-text.ts';

/**
 * A row as one text: DuckDB keeps room for two thousand values of each column of an answer until the garbage collector
 * comes by, which for a click makes half a megabyte.
 */
const asJson = (fields: Record<string, string>) =>
  `json_object(${Object.entries(fields)
    .map(([name, sql]) => `'${name}', ${sql}`)
    .join(', ')})::VARCHAR AS found`;

/** Finds a site's click by the 8-byte key first: reading all click ids of a month takes ten times as long. */
export const clickQuery = (clicks: string, key: string) => `
  SELECT ${asJson({
    click_id: 'clicks.click_id',
    offer_id: 'clicks.offer_id',
    offer_title: 'offers.title',
    offer_source: 'offers.source',
    user_id: 'clicks.user_id',
    site_key: 'clicks.site_key',
    clicked_at: 'epoch_us(clicks.clicked_at)::VARCHAR',
    country: 'clicks.country',
    device: 'clicks.device',
    sub1: 'clicks.sub1',
    sub2: 'clicks.sub2',
  })}
  FROM ${clicks} AS clicks LEFT JOIN offers ON offers.offer_id = clicks.offer_id
  WHERE clicks.event_key = ${key} AND clicks.click_id = $1 AND clicks.site_key = $2`;

/** Finds the offer and the time of any site's click. */
export const clickedOfferQuery = (clicks: string, key: string) => `
  SELECT ${asJson({ offer_id: 'clicks.offer_id', site_key: 'clicks.site_key', user_id: 'clicks.user_id', clicked_at: 'epoch_us(clicks.clicked_at)::VARCHAR' })}
  FROM ${clicks} AS clicks WHERE clicks.event_key = ${key} AND clicks.click_id = $1`;

/**
 * Finds the event files that may have a click: asks each for its keys and for nothing else, a third of the time that
 * all columns take.
 */
export const filesQuery = (files: readonly string[], key: string) => `
  SELECT DISTINCT filename FROM read_parquet(${quotedPathList(files)}, hive_partitioning = false, filename = true) WHERE event_key = ${key}`;

/** The view `clicks`, of these files alone. */
export const clicksIn = (files: readonly string[]) => `(
  SELECT event.* REPLACE (coalesce(event.offer_id, named.offer_id) AS offer_id)
  FROM read_parquet(${quotedPathList(files)}, hive_partitioning = false) AS event
  LEFT JOIN offers AS named ON event.offer_id IS NULL AND named.source = event.source AND named.external_id = event.external_id)`;

export const conversionsQuery = `
  SELECT ${asJson({
    conversion_id: 'conversion_id',
    event_id: 'event_id',
    status: 'status',
    payout: 'payout::VARCHAR',
    credited_at: 'epoch_us(credited_at)::VARCHAR',
    reversed_at: 'epoch_us(reversed_at)::VARCHAR',
    reason: 'reason',
  })}
  FROM conversions WHERE click_id = $1 ORDER BY occurred_at, conversion_id`;

export const postbacksQuery = `
  SELECT ${asJson({
    event: 'kind',
    reward: 'reward::VARCHAR',
    state: 'state',
    attempts: 'attempts',
    last_attempt_at: 'epoch_us(last_attempt_at)::VARCHAR',
    last_status: 'last_status',
  })}
  FROM postbacks WHERE click_id = $1
  ORDER BY occurred_at, CASE kind WHEN 'credit' THEN 1 WHEN 'reject' THEN 2 ELSE 3 END, conversion_id`;
