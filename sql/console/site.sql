-- One site of sites.json, with its terms and counts of its postbacks.
-- grain: one row, none where neither sites.json nor a click has the site
-- key: site_key
-- nullable: name, status, variant, commission, commission_changed_at, reward_rate, rate_limit_per_hour, commissions, offers, lag_seconds_p95
WITH known AS (
  SELECT site_key FROM sites WHERE site_key = $site_key::VARCHAR
  UNION
  SELECT site_key FROM site_daily WHERE site_key = $site_key::VARCHAR
)
SELECT
  known.site_key,
  sites.* EXCLUDE (site_key),
  terms.commissions,
  terms.offers,
  coalesce(delivery.waiting, 0) AS waiting,
  coalesce(delivery.dead, 0) AS dead,
  delivery.lag_seconds_p95
FROM known
LEFT JOIN sites ON sites.site_key = known.site_key
LEFT JOIN site_terms AS terms ON terms.site_key = sites.site_key AND terms.valid_to IS NULL
LEFT JOIN postbacks_by_site() AS delivery ON delivery.site_key = known.site_key
