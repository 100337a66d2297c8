-- Figures of each offer on one UTC day by itself, the day under way up to the snapshot's as-of. Unlike those of report_daily
-- the days do not overlap: clicks, conversions and earnings add up over days and offers, to those of offer_hourly.
-- Not to be summed are converted_clicks over days, since a click that converts on two counts on each, and epc and cvr at all:
-- for several days divide the sums.
-- grain: one row per UTC day and offer with a click or a credited conversion
-- key: day, offer_id
-- columns:
--   day: UTC day
--   offer_id: Public id of the offer
--   clicks: Clicks with clicked_at on the day
--   conversions: Conversions credited at the snapshot's as-of whose credit is on the day
--   converted_clicks: Distinct clicks among these conversions; they add up over offers, not over days
--   earnings: Sum of their gross payouts, USD
--   epc: Gross USD per click of the day: earnings / clicks, rounded half away from zero to 6 places; 0 without clicks
--   cvr: converted_clicks / clicks of the day as a ratio, rounded half away from zero to 6 places; 0 without clicks; may exceed 1, since a click may lie before the day
WITH summed AS (
  SELECT
    day,
    offer_id,
    coalesce(sum(clicks), 0)::BIGINT AS clicks,
    coalesce(sum(conversions), 0)::BIGINT AS conversions,
    coalesce(sum(converted_clicks), 0)::BIGINT AS converted_clicks,
    coalesce(sum(earnings), 0)::DECIMAL(24, 6) AS earnings
  FROM (
    SELECT hour::DATE AS day, offer_id, clicks
    FROM day_clicks
    UNION ALL BY NAME
    SELECT
      credited_at::DATE AS day,
      offer_id,
      count(*) AS conversions,
      count(DISTINCT click_id) AS converted_clicks,
      sum(payout) AS earnings
    FROM day_conversions
    WHERE status = 'credited'
    GROUP BY ALL
  )
  GROUP BY ALL
)
SELECT
  day,
  offer_id,
  clicks,
  conversions,
  converted_clicks,
  earnings,
  epc(earnings, clicks) AS epc,
  cvr(converted_clicks, clicks) AS cvr
FROM summed
ORDER BY day, offer_id
