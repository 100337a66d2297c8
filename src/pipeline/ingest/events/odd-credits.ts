import type { DuckDBConnection } from '@duckdb/node-api';
import { queryRows } from '../../../kit/duckdb/dialect/rows.ts';
import type { Run } from '../../runs/stage.ts';
import { modelQuery, withFunctions } from '../../sql/model-query.ts';
import type { FoundClicks, NewConversionEvents } from './attribution.ts';

/** Clocks differ by less. Microseconds. */
const maxClockDifference = 3_600_000_000;
const maxNamed = 5;

interface OddCredits {
  before_click: number;
  first_before_click: string[];
  without_milestone: number;
  first_without_milestone: string[];
}

/**
 * Warns of credits whose click became known in this run and that are hardly what happened: older than their click, or
 * of no milestone though their offer has some. They count as they say, since a log's word is all that there is.
 */
export async function warnOfOddCredits(
  { logger }: Pick<Run, 'logger'>,
  connection: DuckDBConnection,
  newEvents: NewConversionEvents,
  foundClicks: FoundClicks,
): Promise<void> {
  const [odd] = await queryRows<OddCredits>(
    connection,
    `WITH news AS (
       SELECT conversion_id, click_id, occurred_at, event_id FROM ${newEvents} WHERE kind = 'credit'
       UNION
       SELECT conversion_id, click_id, occurred_at, event_id FROM conversion_events
       WHERE kind = 'credit' AND click_id IN (SELECT click_id FROM ${foundClicks})
     ),
     credits AS (
       SELECT event.conversion_id, epoch_us(click.clicked_at) - epoch_us(event.occurred_at) > ${maxClockDifference} AS is_before_click,
         event.event_id IS NULL AND milestones.offer_id IS NOT NULL AS is_without_milestone
       FROM news AS event
       JOIN (SELECT * FROM conversion_clicks WHERE click_id IN (SELECT click_id FROM news)) AS click
         ON click.click_id = event.click_id
       LEFT JOIN (${modelQuery('staging', 'offer_keys')}) AS offer ON ${withFunctions('click_names_offer(click, offer)')}
       LEFT JOIN (${modelQuery('staging', 'offer_spans')}) AS span
         ON span.offer_id = offer.offer_id AND span.holds_from <= event.occurred_at AND event.occurred_at < span.holds_until
       LEFT JOIN (SELECT DISTINCT offer_id, version FROM offer_version_events) AS milestones
         ON milestones.offer_id = span.offer_id AND milestones.version = span.version
     )
     SELECT count(*) FILTER (is_before_click) AS before_click,
       coalesce(min(conversion_id, ${maxNamed}) FILTER (is_before_click), []) AS first_before_click,
       count(*) FILTER (is_without_milestone) AS without_milestone,
       coalesce(min(conversion_id, ${maxNamed}) FILTER (is_without_milestone), []) AS first_without_milestone
     FROM credits`,
  );
  if (odd === undefined) return;
  if (odd.before_click > 0)
    logger.warn(
      { conversions: odd.before_click, first: odd.first_before_click },
      'credits are more than an hour older than their clicks, and count on the day that they say: ask their sources which clock is wrong',
    );
  if (odd.without_milestone > 0)
    logger.warn(
      { conversions: odd.without_milestone, first: odd.first_without_milestone },
      'credits name no milestone though their offers have some, and count with the whole payout: ask their sources for event_id, or say event_required where they report to the tracker',
    );
}
