-- One site as sites.json has it, and how its postbacks stand.
-- grain: one row, none where neither sites.json nor a click has the site
-- key: site_key
-- nullable: name, status, variant, commission, commission_changed_at, reward_rate, rate_limit_per_hour, lag_seconds_p95
WITH known AS (
  SELECT site_key FROM sites WHERE site_key = $site_key::VARCHAR
  UNION
  SELECT site_key FROM site_daily WHERE site_key = $site_key::VARCHAR
)
SELECT
  known.site_key,
  sites.* EXCLUDE (site_key),
  coalesce(told.waiting, 0) AS waiting,
  coalesce(told.dead, 0) AS dead,
  told.lag_seconds_p95
FROM known
LEFT JOIN sites ON sites.site_key = known.site_key
LEFT JOIN postbacks_by_site() AS told ON told.site_key = known.site_key
