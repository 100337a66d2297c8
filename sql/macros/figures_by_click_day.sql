-- Cohorts: the clicks of a day and all that came of them until as-of, on whichever day it was credited. A young day has
-- less of it than it will have. Clicks, conversions and earnings add up over days; clicks are those of offer_daily.
-- grain: one row per offer and UTC day with a click of it, or one that converted, of the last days (30, or as many as are named: days := 7) up to as-of
-- columns:
--   day: UTC day of the clicks
--   offer_id: Public id of the offer
--   clicks: Clicks with clicked_at on the day, up to as-of
--   conversions: Conversions of clicks of the day, credited at as-of
--   converted_clicks: Distinct clicks among these conversions; they add up over days, too
--   earnings: Sum of their gross payouts, USD
--   reversed: Conversions of clicks of the day that were rejected or charged back
--   epc: Gross USD per click: earnings / clicks, rounded half away from zero to 6 places; 0 without clicks
--   cvr: converted_clicks / clicks as a ratio, rounded half away from zero to 6 places; 0 without clicks; at most 1 but for clicks stamped later than as-of
SELECT
  day,
  offer_id,
  clicks,
  conversions,
  converted_clicks,
  earnings,
  reversed,
  epc(earnings, clicks) AS epc,
  cvr(converted_clicks, clicks) AS cvr
FROM (
  SELECT
    day,
    offer_id,
    coalesce(sum(clicks), 0)::BIGINT AS clicks,
    coalesce(sum(conversions), 0)::BIGINT AS conversions,
    coalesce(sum(converted_clicks), 0)::BIGINT AS converted_clicks,
    coalesce(sum(earnings), 0)::DECIMAL(24, 6) AS earnings,
    coalesce(sum(reversed), 0)::BIGINT AS reversed
  FROM (
    SELECT day, offer_id, clicks
    FROM offer_daily
    WHERE clicks > 0 AND day >= utc_day($window_start - to_hours(24 * (days - 2)))
    UNION ALL BY NAME
    SELECT
      utc_day(clicked_at) AS day,
      offer_id,
      count(*) FILTER (status = 'credited') AS conversions,
      count(DISTINCT click_id) FILTER (status = 'credited') AS converted_clicks,
      sum(payout) FILTER (status = 'credited') AS earnings,
      count(*) FILTER (status <> 'credited') AS reversed
    FROM conversions
    WHERE status IN ('credited', 'rejected', 'charged_back')
      AND clicked_at >= $window_start - to_hours(24 * (days - 2))
    GROUP BY ALL
  )
  GROUP BY ALL
)
ORDER BY day, offer_id
