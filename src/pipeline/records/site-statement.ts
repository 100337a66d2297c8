import { queryRows } from '../../kit/duckdb/dialect/rows.ts';
import type { Day } from '../../kit/time/moment.ts';
import type { SnapshotConnections } from '../clicks/snapshot-connections.ts';
import { withFunctions } from '../sql/model-query.ts';
import { isInSpan, ownerValues, ownTerms, withRewards, type RecordOwner, type RecordSpan } from './site-terms.ts';

/** A UTC day of a site. Conversions that were taken back count on the day of their credit, else on their own. */
export interface StatementDay {
  day: Day;
  clicks: number;
  conversions: number;
  /** Charged back. */
  reversed: number;
  rejected: number;
  /** USD after commission: decimal text with 4 places. */
  earnings: string;
  /** Points for the day's conversions: decimal text with 4 places. */
  rewards: string;
}

/** Returns a site's days with a click or a conversion, ascending. Throws `ApiError` where too many queries wait. */
export function siteStatement(
  connections: SnapshotConnections,
  owner: RecordOwner,
  span: RecordSpan,
): Promise<StatementDay[]> {
  return connections.ask((connection) =>
    queryRows<StatementDay>(
      connection,
      withFunctions(`WITH ${ownTerms},
       counted AS (
         SELECT day, clicks, conversions,
           coalesce(earnings_after_commission, after_commission(gross_earnings, terms.commission)) AS earnings
         FROM site_daily CROSS JOIN terms
         WHERE site_key = $1 AND ${isInSpan('day::TIMESTAMPTZ', span)}),
       decided AS (
         SELECT * FROM conversions WHERE site_key = $1 AND status NOT IN ('unattributed', 'pending') AND ${isInSpan('occurred_at', span)}),
       outcomes AS (
         SELECT occurred_at::DATE AS day, count(*) FILTER (status = 'charged_back') AS reversed,
           count(*) FILTER (status = 'rejected') AS rejected, sum(reward) FILTER (status = 'credited') AS rewards
         FROM (${withRewards('decided')}) GROUP BY ALL)
       SELECT day::VARCHAR AS day, coalesce(clicks, 0) AS clicks, coalesce(conversions, 0) AS conversions,
         coalesce(reversed, 0) AS reversed, coalesce(rejected, 0) AS rejected,
         coalesce(earnings, 0)::DECIMAL(24, 4) AS earnings, coalesce(rewards, 0)::DECIMAL(38, 4) AS rewards
       FROM counted FULL JOIN outcomes USING (day) ORDER BY day`),
      ownerValues(owner),
    ),
  );
}
