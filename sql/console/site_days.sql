-- One site day by day, newest first. A day without events is 0 from the first known day of any site on.
-- grain: one row per UTC day of the range that is known
-- key: day
-- nullable: earnings_after_commission
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
  coalesce(daily.gross_earnings, 0) AS gross_earnings,
  CASE WHEN sites.site_key IS NOT NULL THEN coalesce(daily.earnings_after_commission, 0) END AS earnings_after_commission
FROM days
LEFT JOIN site_daily AS daily ON daily.day = days.day AND daily.site_key = $site_key::VARCHAR
LEFT JOIN sites ON sites.site_key = $site_key::VARCHAR
ORDER BY days.day DESC
