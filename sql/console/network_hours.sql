-- All offers' clicks, conversions and earnings by hour, and those of the same hours a week before: the last 48 full hours
-- before the as-of. The current hour would look like a fall. An hour before the first known day has no figures.
-- grain: one row per hour
-- key: hour
-- nullable: clicks, clicks_week_before, conversions, conversions_week_before, earnings, earnings_week_before
WITH hours AS (
  SELECT unnest(generate_series(date_trunc('hour', $as_of) - INTERVAL 48 HOURS, date_trunc('hour', $as_of) - INTERVAL 1 HOUR, INTERVAL 1 HOUR)) AS hour
),
known AS (
  SELECT date_trunc('day', min(hour)) AS since FROM network_hourly
)
SELECT
  hours.hour,
  CASE WHEN hours.hour >= known.since THEN coalesce(now.clicks, 0) END AS clicks,
  CASE WHEN hours.hour - INTERVAL 7 DAYS >= known.since THEN coalesce(before.clicks, 0) END AS clicks_week_before,
  CASE WHEN hours.hour >= known.since THEN coalesce(now.conversions, 0) END AS conversions,
  CASE WHEN hours.hour - INTERVAL 7 DAYS >= known.since THEN coalesce(before.conversions, 0) END AS conversions_week_before,
  CASE WHEN hours.hour >= known.since THEN coalesce(now.earnings, 0) END AS earnings,
  CASE WHEN hours.hour - INTERVAL 7 DAYS >= known.since THEN coalesce(before.earnings, 0) END AS earnings_week_before
FROM hours
CROSS JOIN known
LEFT JOIN network_hourly AS now ON now.hour = hours.hour
LEFT JOIN network_hourly AS before ON before.hour = hours.hour - INTERVAL 7 DAYS
ORDER BY hours.hour
