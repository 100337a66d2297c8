-- Figures of each site on some UTC days, up to as-of; gross, since a site's commission may change later.
-- grain: one row per UTC day and site with a click on an offer in the catalog or a credited conversion
-- key: day, site_key
-- fills: site_days
SELECT
  day,
  site_key,
  coalesce(sum(clicks), 0)::BIGINT AS clicks,
  coalesce(sum(conversions), 0)::BIGINT AS conversions,
  coalesce(sum(converted_clicks), 0)::BIGINT AS converted_clicks,
  coalesce(sum(earnings), 0)::DECIMAL(24, 6) AS earnings
FROM (
  SELECT day, site_key, clicks
  FROM day_site_clicks
  UNION ALL BY NAME
  SELECT
    credited_at::DATE AS day,
    site_key,
    count(*) AS conversions,
    count(DISTINCT click_id) AS converted_clicks,
    sum(payout) AS earnings
  FROM day_conversions
  WHERE status = 'credited'
  GROUP BY ALL
)
GROUP BY ALL
