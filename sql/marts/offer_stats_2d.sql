-- Figures of each offer over W = [midnight of the day before as-of, as-of], so yesterday and today in UTC, over all sites.
-- grain: one row per offer with a click or credited conversion in W, or a credited conversion in the last 48 hours
-- key: offer_id
-- fills: day_stats
-- columns:
--   offer_id: Public id of the offer
--   as_of: The moment the figures are true for, UTC
--   clicks: Clicks with clicked_at in W
--   conversions: Conversions credited at as-of whose credit is in W
--   converted_clicks: Distinct clicks among these conversions
--   earnings: Sum of their gross payouts, USD
--   epc: Gross USD per click: earnings / clicks, rounded half away from zero to 6 places; 0 without clicks
--   cvr: converted_clicks / clicks as a ratio, rounded half away from zero to 6 places; 0 without clicks; may exceed 1, since a click may lie before W
--   conversions_24h: Credited at as-of, credit in (as-of - 24 h, as-of]
--   conversions_prior_24h: Credited at as-of, credit in (as-of - 48 h, as-of - 24 h]
--   trend: up when conversions_24h exceeds conversions_prior_24h by more than a tenth, down when it falls short by more than a tenth, else stable
--   rank?: Among active offers with a conversion in the last 48 hours: by those, then their earnings, then offer_id; 1 is hottest, NULL outside
WITH credited AS (
  SELECT *
  FROM window_conversions
  WHERE status = 'credited'
),
measured AS (
  SELECT
    offer_id,
    sum(clicks) AS clicks
  FROM window_clicks
  GROUP BY offer_id
  UNION ALL BY NAME
  SELECT
    offer_id,
    count(*) FILTER (WHERE credited_at >= $window_start) AS conversions,
    count(DISTINCT click_id) FILTER (WHERE credited_at >= $window_start) AS converted_clicks,
    sum(payout) FILTER (WHERE credited_at >= $window_start) AS earnings,
    count(*) FILTER (WHERE credited_at > $as_of - INTERVAL 24 HOURS) AS conversions_24h,
    count(*) FILTER (
      WHERE credited_at > $as_of - INTERVAL 48 HOURS AND credited_at <= $as_of - INTERVAL 24 HOURS
    ) AS conversions_prior_24h,
    sum(payout) FILTER (WHERE credited_at > $as_of - INTERVAL 48 HOURS) AS earnings_48h
  FROM credited
  WHERE credited_at >= $window_start OR credited_at > $as_of - INTERVAL 48 HOURS
  GROUP BY offer_id
),
per_offer AS (
  SELECT
    offer_id,
    coalesce(sum(clicks), 0)::BIGINT AS clicks,
    coalesce(sum(conversions), 0)::BIGINT AS conversions,
    coalesce(sum(converted_clicks), 0)::BIGINT AS converted_clicks,
    coalesce(sum(earnings), 0)::DECIMAL(24, 6) AS earnings,
    coalesce(sum(conversions_24h), 0)::BIGINT AS conversions_24h,
    coalesce(sum(conversions_prior_24h), 0)::BIGINT AS conversions_prior_24h,
    coalesce(sum(earnings_48h), 0)::DECIMAL(24, 6) AS earnings_48h
  FROM measured
  GROUP BY offer_id
),
ranked AS (
  SELECT
    offer_id,
    row_number() OVER (
      ORDER BY conversions_24h + conversions_prior_24h DESC, earnings_48h DESC, offer_id
    ) AS rank
  FROM per_offer
  WHERE conversions_24h + conversions_prior_24h > 0
    AND offer_id IN (
      SELECT offer_id
      FROM offer_spans
      WHERE status = 'active' AND holds_from <= $as_of AND $as_of < holds_until
    )
)
SELECT
  per_offer.offer_id,
  $as_of AS as_of,
  clicks,
  conversions,
  converted_clicks,
  earnings,
  epc(earnings, clicks) AS epc,
  cvr(converted_clicks, clicks) AS cvr,
  conversions_24h,
  conversions_prior_24h,
  trend(conversions_24h, conversions_prior_24h) AS trend,
  ranked.rank
FROM per_offer
LEFT JOIN ranked ON ranked.offer_id = per_offer.offer_id
ORDER BY per_offer.offer_id
