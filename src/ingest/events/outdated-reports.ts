import type { DuckDBConnection } from '@duckdb/node-api';

/** What makes a report outdated: new clicks, new conversion events, a click that conversions waited for, an offer that was unknown. */
type ReportCause = 'clicks' | 'conversions' | 'attribution' | 'offers';

/**
 * Marks the daily reports that this run's events change: those of their day and of the day after, which covers the day
 * before it too. Who computes a report removes its marks. To be called after attribution and roll-up.
 */
export async function markReportsOfNewEvents(
  connection: DuckDBConnection,
  runId: number,
  { clicks }: { clicks: boolean },
): Promise<void> {
  if (clicks)
    await mark(connection, 'clicks', runId, bothDays('SELECT DISTINCT hour::DATE AS day FROM new_click_hourly'));
  // A reject or chargeback takes its credit out of those of the two reports that do not end before it: one that comes
  // weeks later changes none.
  await mark(
    connection,
    'conversions',
    runId,
    `SELECT credit.occurred_at::DATE + later AS day
     FROM new_conversion_events AS event
     JOIN conversion_events AS credit ON credit.conversion_id = event.conversion_id AND credit.kind = 'credit'
     CROSS JOIN (VALUES (0), (1)) AS steps (later)
     WHERE credit.occurred_at::DATE + later >= event.occurred_at::DATE`,
  );
  await mark(
    connection,
    'attribution',
    runId,
    bothDays(
      creditDays(
        `click_id IN (SELECT click_id FROM found_clicks) AND conversion_id NOT IN (SELECT conversion_id FROM new_conversion_events)`,
      ),
    ),
  );
}

/** Marks the daily reports of clicks and conversions that new offers of the catalog belong to; `named` selects these by `offer_id`, `source` and `external_id`. */
export async function markReportsOfNewOffers(
  connection: DuckDBConnection,
  runId: number,
  named: string,
): Promise<void> {
  await mark(
    connection,
    'offers',
    runId,
    bothDays(
      `SELECT DISTINCT hour::DATE AS day FROM click_hourly WHERE ${named}
     UNION
     ${creditDays(`click_id IN (SELECT click_id FROM conversion_clicks WHERE ${named})`)}`,
    ),
  );
}

function creditDays(which: string): string {
  return `SELECT DISTINCT occurred_at::DATE AS day FROM conversion_events WHERE kind = 'credit' AND ${which}`;
}

function bothDays(days: string): string {
  return `SELECT day + later AS day FROM (${days}) CROSS JOIN (VALUES (0), (1)) AS steps (later)`;
}

/** A cause that is found again counts as found by the later run. */
async function mark(connection: DuckDBConnection, cause: ReportCause, runId: number, days: string): Promise<void> {
  await connection.run(
    `INSERT OR REPLACE INTO outdated_reports SELECT DISTINCT day, '${cause}', ${runId} FROM (${days})`,
  );
}
