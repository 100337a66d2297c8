-- How each site's postbacks stand, and how long those of yesterday and today took.
-- grain: one row per site with a postback that is not delivered, or was written yesterday or today, UTC
-- columns:
--   site_key: Publisher site
--   waiting: Postbacks that are pending or being delivered
--   dead: Postbacks that were given up
--   lag_seconds_p95?: 95th percentile, over those written yesterday and today, of the seconds from then to delivery, to the millisecond; NULL where none of these is delivered
SELECT
  site_key,
  count(*) FILTER (state IN ('pending', 'delivering')) AS waiting,
  count(*) FILTER (state = 'dead') AS dead,
  -- The greatest of NULL and 0 is 0.
  round(quantile_cont(greatest(date_diff('millisecond', enqueued_at, delivered_at), 0), 0.95) FILTER (enqueued_at >= $window_start AND delivered_at IS NOT NULL)) / 1000 AS lag_seconds_p95
FROM postbacks
WHERE state <> 'delivered' OR enqueued_at >= $window_start
GROUP BY site_key
ORDER BY site_key
