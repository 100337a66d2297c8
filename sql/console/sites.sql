-- Sites with clicks and earnings of a range of days, also day by day, and counts of their postbacks; highest earnings first.
-- grain: one row per site of sites.json, and per other one that clicks name
-- key: site_key
-- nullable: name, status, variant, commission, clicks, conversions, gross_earnings, earnings_after_commission, last_day, lag_seconds_p95
WITH days AS (
  SELECT unnest(generate_series(
    greatest($from::DATE, coalesce((SELECT min(day) FROM site_daily), $to::DATE + 1)), least($to::DATE, $as_of::DATE), INTERVAL 1 DAY
  ))::DATE AS day
),
ranged AS (
  SELECT * FROM site_daily WHERE day >= $from::DATE AND day <= $to::DATE
),
known AS (
  SELECT site_key FROM sites UNION SELECT site_key FROM ranged
),
sent AS (
  SELECT
    known.site_key,
    coalesce(sum(ranged.clicks), 0)::BIGINT AS clicks,
    coalesce(sum(ranged.conversions), 0)::BIGINT AS conversions,
    coalesce(sum(ranged.gross_earnings), 0) AS gross_earnings,
    coalesce(sum(ranged.earnings_after_commission), 0) AS earnings_after_commission,
    max(ranged.day) FILTER (ranged.clicks > 0) AS last_day,
    list(coalesce(ranged.clicks, 0) ORDER BY days.day) AS clicks_by_day,
    list(coalesce(ranged.gross_earnings, 0)::DOUBLE ORDER BY days.day) AS earnings_by_day
  FROM known
  CROSS JOIN days
  LEFT JOIN ranged ON ranged.site_key = known.site_key AND ranged.day = days.day
  GROUP BY known.site_key
)
SELECT
  known.site_key,
  sites.name,
  sites.status,
  sites.variant,
  sites.commission,
  sent.clicks,
  sent.conversions,
  sent.gross_earnings,
  CASE WHEN sites.site_key IS NOT NULL THEN sent.earnings_after_commission END AS earnings_after_commission,
  sent.last_day,
  coalesce(delivery.waiting, 0) AS waiting,
  coalesce(delivery.dead, 0) AS dead,
  delivery.lag_seconds_p95,
  coalesce(sent.clicks_by_day, []) AS clicks_by_day,
  coalesce(sent.earnings_by_day, []) AS earnings_by_day
FROM known
LEFT JOIN sites ON sites.site_key = known.site_key
LEFT JOIN sent ON sent.site_key = known.site_key
LEFT JOIN postbacks_by_site() AS delivery ON delivery.site_key = known.site_key
ORDER BY sent.gross_earnings DESC NULLS LAST, sent.clicks DESC, known.site_key
