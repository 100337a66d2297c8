-- What each site brought on each of some UTC days, up to as-of; gross, since a site's commission may change later.
-- grain: one row per UTC day and site with a click on an offer in the catalog or a credited conversion
-- key: day, site_key
-- inputs: day_site_clicks, day_conversions
-- fills: site_days
SELECT
  day,
  site_key,
  sum(clicks)::BIGINT AS clicks,
  sum(conversions)::BIGINT AS conversions,
  sum(converted_clicks)::BIGINT AS converted_clicks,
  sum(earnings)::DECIMAL(24, 6) AS earnings
FROM (
  SELECT day, site_key, clicks, 0 AS conversions, 0 AS converted_clicks, 0::DECIMAL(15, 6) AS earnings
  FROM day_site_clicks
  UNION ALL
  SELECT
    credited_at::DATE AS day,
    site_key,
    0 AS clicks,
    count(*) AS conversions,
    count(DISTINCT click_id) AS converted_clicks,
    sum(payout) AS earnings
  FROM day_conversions
  WHERE status = 'credited'
  GROUP BY ALL
)
GROUP BY ALL
