import type { DuckDBConnection } from '@duckdb/node-api';
import { basename } from 'node:path';
import { queryRows } from '../../kit/duckdb/dialect/rows.ts';
import type { Microseconds } from '../../kit/time/iso-moment.ts';
import { dayOf, type Moment } from '../../kit/time/moment.ts';
import { textKey } from '../../kit/vocabulary/event-key.ts';
import type { ClickFiles } from '../clicks/click-files.ts';
import { clicksIn } from '../clicks/click-queries.ts';
import type { SnapshotConnections } from '../clicks/snapshot-connections.ts';
import { withFunctions } from '../sql/model-query.ts';
import { isInSpan, ownerValues, ownTerms, withRewards, type RecordOwner, type RecordSpan } from './site-terms.ts';

/** A conversion of a site. */
export interface SiteConversion {
  conversion_id: string;
  click_id: string;
  offer_id: number | null;
  offer_title: string | null;
  event_id: string | null;
  user_id: string;
  sub1: string | null;
  sub2: string | null;
  status: string;
  /** USD after commission: decimal text with 4 places. */
  payout: string | null;
  /** Points: decimal text with 4 places. */
  reward: string | null;
  clicked_at: Moment;
  occurred_at: Moment;
  credited_at: Moment | null;
  reversed_at: Moment | null;
  reason: string | null;
  changed_at: Moment;
}

export interface ConversionFilters extends RecordSpan {
  status?: string | undefined;
  userId?: string | undefined;
  clickId?: string | undefined;
  /** Only what changed then or later. */
  changedSince?: Microseconds | undefined;
}

/**
 * Returns a site's conversions by id, the first `limit` after `after`: ids never change, so that pages of different
 * snapshots neither lose nor repeat one. Throws `ApiError` where too many queries wait.
 */
export function siteConversions(
  connections: SnapshotConnections,
  owner: RecordOwner,
  { status, userId, clickId, changedSince, ...span }: ConversionFilters,
  { after, limit }: { after: string; limit: number },
): Promise<SiteConversion[]> {
  const values: string[] = [...ownerValues(owner), after];
  const same = (column: string, value: string | undefined) =>
    value === undefined ? [] : [`${column} = $${values.push(value)}`];
  const conditions = [
    isInSpan('occurred_at', span),
    ...same('status', status),
    ...same('user_id', userId),
    ...same('click_id', clickId),
    // With the commission all amounts change, with the rate the rewards that were not sent.
    ...(changedSince === undefined
      ? []
      : [
          `(${isInSpan('changed_at', { from: changedSince })} OR (SELECT ${isInSpan('terms_changed_at', { from: changedSince })} FROM terms))`,
        ]),
  ];
  return connections.ask(async (connection, { files }) => {
    const rows = await queryRows<SiteConversion>(
      connection,
      withFunctions(`WITH ${ownTerms},
       page AS (
         SELECT * FROM conversions WHERE site_key = $1 AND conversion_id > $4 AND ${conditions.join(' AND ')}
         ORDER BY conversion_id LIMIT ${limit})
       SELECT conversion_id, click_id, page.offer_id, offers.title AS offer_title, event_id, user_id,
         NULL::VARCHAR AS sub1, NULL::VARCHAR AS sub2, page.status, page.own_payout AS payout, page.reward, clicked_at, occurred_at,
         credited_at, reversed_at, reason, greatest(changed_at, terms_changed_at) AS changed_at
       FROM (${withRewards('page')}) AS page LEFT JOIN offers ON offers.offer_id = page.offer_id ORDER BY conversion_id`),
      values,
    );
    const subs = await subsOf(connection, files, owner.siteKey, rows);
    return rows.map((row) => ({ ...row, ...subs.get(row.click_id) }));
  });
}

/** Tracking values of the conversions' clicks, by click id, from the event files of the clicks' days. */
async function subsOf(
  connection: DuckDBConnection,
  files: ClickFiles,
  siteKey: string,
  rows: readonly SiteConversion[],
): Promise<Map<string, Pick<SiteConversion, 'sub1' | 'sub2'>>> {
  const days = new Set(rows.map(({ clicked_at }) => dayOf(clicked_at)));
  const ofDays = files.events.filter((path) => days.has(basename(path).slice(0, 'YYYY-MM-DD'.length)));
  if (rows.length === 0 || (files.events.length > 0 && ofDays.length === 0)) return new Map();
  const found = await queryRows<Pick<SiteConversion, 'click_id' | 'sub1' | 'sub2'>>(
    connection,
    `WITH asked AS (SELECT DISTINCT unnest($2::VARCHAR[]) AS click_id)
     SELECT click_id, sub1, sub2 FROM ${files.events.length === 0 ? 'clicks' : clicksIn(ofDays)} AS clicks
     WHERE site_key = $1 AND event_key IN (SELECT ${textKey('asked.click_id')} FROM asked) AND click_id IN (SELECT click_id FROM asked)`,
    [siteKey, rows.map(({ click_id }) => click_id)],
  );
  return new Map(found.map(({ click_id, ...subs }) => [click_id, subs]));
}
