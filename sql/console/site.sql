-- One site as sites.json has it, and how its postbacks stand.
-- grain: one row, none where neither sites.json nor a click has the site
-- key: site_key
-- inputs: sites, site_daily, postbacks
WITH told AS (
  SELECT
    count(*) FILTER (state IN ('pending', 'delivering')) AS waiting,
    count(*) FILTER (state = 'dead') AS dead,
    quantile_cont(greatest(date_diff('millisecond', enqueued_at, delivered_at), 0), 0.95)
      FILTER (enqueued_at >= date_trunc('day', $as_of) - INTERVAL 1 DAY) / 1000 AS lag_seconds_p95
  FROM postbacks
  WHERE site_key = $site_key::VARCHAR AND (state <> 'delivered' OR enqueued_at >= date_trunc('day', $as_of) - INTERVAL 1 DAY)
),
known AS (
  SELECT site_key FROM sites WHERE site_key = $site_key::VARCHAR
  UNION
  SELECT site_key FROM site_daily WHERE site_key = $site_key::VARCHAR
)
SELECT known.site_key, sites.* EXCLUDE (site_key), told.waiting, told.dead, told.lag_seconds_p95
FROM known
LEFT JOIN sites ON sites.site_key = known.site_key
CROSS JOIN told
