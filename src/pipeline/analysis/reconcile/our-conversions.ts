import type { DuckDBConnection } from '@duckdb/node-api';
import { UsageError } from '../../../kit/errors/errors.ts';
import type { Moment } from '../../../kit/time/moment.ts';
import { completeCommissions } from '../../clicks/snapshot-connections.ts';
import { queryRows } from '../../../kit/duckdb/dialect/rows.ts';
import { makeEmptyTempTable } from '../../../kit/duckdb/temp-table.ts';
import { textKey } from '../../../kit/vocabulary/event-key.ts';
import type { ConversionStatus } from '../../../kit/vocabulary/values.ts';
import { withFunctions } from '../../sql/model-query.ts';
import { readPublished, type MartRow } from '../../sql/run-model.ts';
import { parseAmount, type Amount } from '../../../kit/text/decimal-text.ts';

/** A conversion of the site in the snapshot. */
export interface OurConversion {
  conversionId: string;
  clickId: string;
  offerId: number | null;
  status: ConversionStatus;
  /**
   * Reward of the postback, else payout × (1 − commission) × reward rate as they are now; absent while the payout is
   * unknown.
   */
  amount?: Amount;
  /** Time of the credit, else of the reject or chargeback, else of the announcement. */
  time: Moment;
  /** Time of the first reject or chargeback; null without one. */
  reversedAt: Moment | null;
  /** State of its postback; null without one. */
  postback: { state: string; deliveredAt: Moment | null; lastError: string | null } | null;
}

/** Click that a claim names to which no conversion was matched. */
export interface ClaimedClick {
  clickId: string;
  /** Null where the click is not known, only a conversion that waits for it. */
  siteKey: string | null;
  clickedAt: Moment | null;
}

type ConversionColumn = 'conversion_id' | 'click_id' | 'offer_id' | 'reversed_at';
type Postback = MartRow<'postbacks'>;

interface ConversionRow extends Pick<MartRow<'conversions'>, ConversionColumn> {
  status: OurConversion['status'];
  reward: string | null;
  time: Moment;
  /** Null without a postback. */
  state: Postback['state'] | null;
  delivered_at: Postback['delivered_at'];
  last_error: Postback['last_error'];
}

/** Returns all conversions of a site. Throws `UsageError` where the snapshot lacks the site. */
export async function ourConversions(connection: DuckDBConnection, siteKey: string): Promise<OurConversion[]> {
  const sites = await readPublished(connection, 'sites', ['site_key']);
  if (!sites.some(({ site_key }) => site_key === siteKey)) {
    throw new UsageError(
      `the snapshot has no site "${siteKey}"; it has ${sites.map(({ site_key }) => site_key).join(', ') || 'none'}`,
    );
  }
  await completeCommissions(connection);
  const rows = await queryRows<ConversionRow>(
    connection,
    withFunctions(`SELECT conversions.conversion_id, conversions.click_id, conversions.offer_id, conversions.status,
       coalesce(postbacks.reward, reward(conversions.payout, coalesce(of_offer.commission, of_source.commission, sites.commission), sites.reward_rate::VARCHAR)) AS reward,
       coalesce(conversions.credited_at, conversions.occurred_at) AS time, conversions.reversed_at, postbacks.state, postbacks.delivered_at, postbacks.last_error
     FROM conversions
     JOIN sites ON sites.site_key = conversions.site_key
     LEFT JOIN offers ON offers.offer_id = conversions.offer_id
     LEFT JOIN site_commissions AS of_offer ON of_offer.site_key = conversions.site_key AND of_offer.offer_id = conversions.offer_id
     LEFT JOIN site_commissions AS of_source ON of_source.site_key = conversions.site_key AND of_source.source = offers.source
     LEFT JOIN postbacks ON postbacks.conversion_id = conversions.conversion_id AND postbacks.kind = 'credit'
     WHERE conversions.site_key = $1
     ORDER BY time, conversions.conversion_id`),
    [siteKey],
  );
  return rows.map(
    ({ conversion_id, click_id, offer_id, status, reward, time, reversed_at, state, delivered_at, last_error }) => {
      const amount = reward === null ? undefined : parseAmount(reward);
      return {
        conversionId: conversion_id,
        clickId: click_id,
        offerId: offer_id,
        status,
        time,
        reversedAt: reversed_at,
        ...(amount === undefined ? {} : { amount }),
        postback: state === null ? null : { state, deliveredAt: delivered_at, lastError: last_error },
      };
    },
  );
}

/** Returns the clicks with these ids that the snapshot knows, of any site. */
export async function claimedClicks(
  connection: DuckDBConnection,
  clickIds: readonly string[],
): Promise<Map<string, ClaimedClick>> {
  const asked = await makeEmptyTempTable(connection, 'asked_clicks', 'click_id VARCHAR');
  const appender = await connection.createAppender(asked, 'main', 'temp');
  for (const clickId of new Set(clickIds)) {
    appender.appendVarchar(clickId);
    appender.endRow();
  }
  appender.closeSync();
  const rows = await queryRows<{ click_id: string; site_key: string | null; clicked_at: Moment | null }>(
    connection,
    `SELECT clicks.click_id, clicks.site_key, clicks.clicked_at FROM ${asked} AS asked
     JOIN clicks ON clicks.event_key = ${textKey('asked.click_id')} AND clicks.click_id = asked.click_id
     UNION ALL
     SELECT DISTINCT conversions.click_id, NULL, NULL::TIMESTAMPTZ FROM ${asked} AS asked
     JOIN conversions ON conversions.click_id = asked.click_id WHERE conversions.site_key IS NULL`,
  );
  return new Map(
    rows.map(({ click_id, site_key, clicked_at }) => [
      click_id,
      { clickId: click_id, siteKey: site_key, clickedAt: clicked_at },
    ]),
  );
}
