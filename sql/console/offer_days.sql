-- One offer day by day, newest first. A day without events is 0 from the first known day of any offer on.
-- grain: one row per UTC day of the range that is known
-- key: day
-- nullable: none
WITH days AS (
  SELECT unnest(generate_series(
    greatest($from::DATE, coalesce((SELECT min(day) FROM site_daily), $to::DATE + 1)), least($to::DATE, $as_of::DATE), INTERVAL 1 DAY
  ))::DATE AS day
)
SELECT
  days.day,
  coalesce(daily.clicks, 0) AS clicks,
  coalesce(daily.conversions, 0) AS conversions,
  coalesce(daily.converted_clicks, 0) AS converted_clicks,
  coalesce(daily.earnings, 0) AS earnings,
  coalesce(daily.epc, 0) AS epc,
  coalesce(daily.cvr, 0) AS cvr
FROM days
LEFT JOIN offer_daily AS daily ON daily.day = days.day AND daily.offer_id = $offer_id::BIGINT
ORDER BY days.day DESC
