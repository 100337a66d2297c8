import type { DuckDBConnection } from '@duckdb/node-api';
import { makeTempTable } from '../../../kit/duckdb/temp-table.ts';
import { markDaysOfConversions, markMartDays, markReports } from '../../warehouse/dirty-partitions.ts';
import type { FoundClicks, NewConversionEvents } from './attribution.ts';
import type { NewClickHours } from './click-roll-up.ts';

/**
 * Marks the daily reports that this run's events change: those of their day and of the day after, which covers the day
 * before it too. Who computes a report removes its marks.
 */
export async function markReportsOfNewEvents(
  connection: DuckDBConnection,
  runId: number,
  {
    newEvents,
    foundClicks,
    newHours,
  }: {
    newEvents: NewConversionEvents;
    foundClicks: FoundClicks;
    newHours: NewClickHours | undefined;
  },
): Promise<void> {
  if (newHours !== undefined)
    await markReports(connection, 'clicks', runId, bothDays(`SELECT DISTINCT hour::DATE AS day FROM ${newHours}`));
  // A reject or chargeback takes its credit out of those of the two reports that do not end before it: one that comes
  // weeks later changes none. Credits, nearly all events of a first load, need not be looked up.
  await markReports(
    connection,
    'conversions',
    runId,
    `${bothDays(`SELECT DISTINCT occurred_at::DATE AS day FROM ${newEvents} WHERE kind = 'credit'`)}
     UNION
     SELECT credit.occurred_at::DATE + later AS day
     FROM (FROM ${newEvents} WHERE kind <> 'credit') AS event
     JOIN conversion_events AS credit ON credit.conversion_id = event.conversion_id AND credit.kind = 'credit'
     CROSS JOIN (VALUES (0), (1)) AS steps (later)
     WHERE credit.occurred_at::DATE + later >= event.occurred_at::DATE`,
  );
  // Days of new credits are marked above, whenever their click comes. What else is new of a conversion leaves the days
  // of its older credit to be marked here.
  const newCredits = `SELECT conversion_id FROM ${newEvents} WHERE kind = 'credit'`;
  await markReports(
    connection,
    'attribution',
    runId,
    bothDays(creditDays(`click_id IN (SELECT click_id FROM ${foundClicks}) AND conversion_id NOT IN (${newCredits})`)),
  );
}

/**
 * Marks the days and the daily reports of clicks and conversions that named an offer before the catalog had it: its
 * first version reaches back for ever. Later versions change no past figure.
 */
export async function markDaysOfNewOffers(
  connection: DuckDBConnection,
  runId: number,
  offerIds: readonly number[],
): Promise<void> {
  if (offerIds.length === 0) return;
  const newOffers = await makeTempTable(
    connection,
    'new_offers',
    // A list of so many numbers takes the parser longer than all else here.
    `SELECT * FROM offers WHERE offer_id IN (SELECT unnest('[${offerIds.join(', ')}]'::INTEGER[]))`,
  );
  const named = `(offer_id IN (SELECT offer_id FROM ${newOffers}) OR (source, external_id) IN (SELECT (source, external_id) FROM ${newOffers}))`;
  const clickDays = `SELECT DISTINCT hour::DATE AS day FROM click_hourly WHERE ${named}`;
  const namedClicks = `click_id IN (SELECT click_id FROM conversion_clicks WHERE ${named})`;
  await markMartDays(connection, clickDays);
  await markDaysOfConversions(connection, `SELECT conversion_id FROM conversion_events WHERE ${namedClicks}`);
  await markReports(connection, 'offers', runId, bothDays(`${clickDays} UNION ${creditDays(namedClicks)}`));
}

function creditDays(which: string): string {
  return `SELECT DISTINCT occurred_at::DATE AS day FROM conversion_events WHERE kind = 'credit' AND ${which}`;
}

function bothDays(days: string): string {
  return `SELECT day + later AS day FROM (${days}) CROSS JOIN (VALUES (0), (1)) AS steps (later)`;
}
