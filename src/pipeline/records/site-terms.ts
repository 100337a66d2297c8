import type { Microseconds } from '../../kit/time/iso-moment.ts';

/** A site, with the terms that hold for it where the snapshot lacks the site. */
export interface RecordOwner {
  siteKey: string;
  /** Decimal text of a share from 0 to 1. */
  commission: string;
  /** Decimal text: points for one USD. */
  rewardRate: string;
}

/** From the first moment to before the last; each may be absent. UTC. */
export interface RecordSpan {
  from?: Microseconds | undefined;
  until?: Microseconds | undefined;
}

/** Values of `$1`, `$2` and `$3` in statements with `ownTerms`. */
export function ownerValues({ siteKey, commission, rewardRate }: RecordOwner): [string, string, string] {
  return [siteKey, commission, rewardRate];
}

/**
 * SQL of the common tables `terms`: one row, the site's terms as the snapshot has them, else as they were given, and
 * when those changed last that amounts and rewards go by; and `commissions`: those that some offers have.
 */
export const ownTerms = `terms AS (
    SELECT coalesce(max(commission), $2::DECIMAL(7, 6)) AS commission, coalesce(max(reward_rate)::VARCHAR, $3) AS reward_rate,
      greatest(max(commission_changed_at), (
        SELECT max(valid_from) FILTER (is_changed)
        FROM (SELECT valid_from, reward_rate <> lag(reward_rate) OVER (ORDER BY valid_from) AS is_changed FROM site_terms WHERE site_key = $1)
      )) AS terms_changed_at
    FROM sites WHERE site_key = $1),
   commissions AS (FROM site_commissions WHERE site_key = $1)`;

/** Returns SQL for whether a moment is within a span. Bounds by themselves let DuckDB skip the files of other days. */
export function isInSpan(moment: string, { from, until }: RecordSpan): string {
  return [
    ...(from === undefined ? [] : [`${moment} >= make_timestamptz(${from}::BIGINT)`]),
    ...(until === undefined ? [] : [`${moment} < make_timestamptz(${until}::BIGINT)`]),
    'true',
  ].join(' AND ');
}

/**
 * Returns SQL of conversions of a relation with their reward, in the site's points: that of their postback, of the
 * credit's where there is one, else by payout and terms. The postback of an announcement counts while the conversion is
 * pending: the credit may be of another amount. Both amounts are NULL while it is unattributed, also where the
 * advertiser gave one: the commission goes by the offer.
 */
export function withRewards(relation: string): string {
  return `
    SELECT own.* EXCLUDE (own_commission), after_commission(own.payout, own_commission) AS own_payout, terms.terms_changed_at,
      coalesce(sent.reward, reward(own.payout, own_commission, terms.reward_rate)) AS reward
    FROM (
      SELECT each.*,
        CASE WHEN each.status <> 'unattributed' THEN coalesce(of_offer.commission, of_source.commission, terms.commission) END AS own_commission
      FROM ${relation} AS each CROSS JOIN terms
      LEFT JOIN commissions AS of_offer ON of_offer.offer_id = each.offer_id
      LEFT JOIN offers ON offers.offer_id = each.offer_id
      LEFT JOIN commissions AS of_source ON of_source.source = offers.source
    ) AS own CROSS JOIN terms
    LEFT JOIN (
      SELECT conversion_id, kind = 'pending' AS is_announcement,
        arg_min(reward, CASE kind WHEN 'credit' THEN 1 WHEN 'reject' THEN 2 ELSE 3 END) AS reward
      FROM postbacks WHERE site_key = $1 AND conversion_id IN (SELECT conversion_id FROM ${relation}) GROUP BY ALL
    ) AS sent ON sent.conversion_id = own.conversion_id AND sent.is_announcement = (own.status = 'pending')`;
}
