-- Figures of the day of the as-of up to its last full hour, and of the same hours of the day before and a week before.
-- A day before the first known day has no figures: they are unknown, not 0.
-- grain: one row per day
-- key: day
-- nullable: clicks, conversions, earnings, epc, reversed
WITH days AS (
  SELECT
    back AS days_before,
    date_trunc('day', $as_of) - to_days(back) AS begins,
    date_trunc('hour', $as_of) - to_days(back) AS ends
  FROM (VALUES (0), (1), (7)) AS compared(back)
),
known AS (
  SELECT date_trunc('day', min(hour)) AS since FROM network_hourly
),
summed AS (
  SELECT
    days.days_before,
    days.begins,
    days.ends,
    days.begins >= any_value(known.since) AS is_known,
    coalesce(sum(hourly.clicks), 0)::BIGINT AS clicks,
    coalesce(sum(hourly.conversions), 0)::BIGINT AS conversions,
    coalesce(sum(hourly.earnings), 0) AS earnings
  FROM days
  CROSS JOIN known
  LEFT JOIN network_hourly AS hourly ON hourly.hour >= days.begins AND hourly.hour < days.ends
  GROUP BY days.days_before, days.begins, days.ends
),
-- Conversions that were first rejected or charged back in these hours, whenever they were credited. An announcement that
-- nothing followed is none of them: it counted nowhere, and nobody rejected it.
reversals AS (
  SELECT days.days_before, count(*) AS reversed
  FROM days
  JOIN conversions ON conversions.reversed_at >= days.begins AND conversions.reversed_at < days.ends
  WHERE conversions.status IN ('rejected', 'charged_back')
    AND NOT (status = 'rejected' AND credited_at IS NULL AND reversed_at <> occurred_at)
  GROUP BY days.days_before
)
SELECT
  summed.days_before,
  begins::DATE AS day,
  ends AS until,
  CASE WHEN is_known THEN clicks END AS clicks,
  CASE WHEN is_known THEN conversions END AS conversions,
  CASE WHEN is_known THEN earnings END AS earnings,
  CASE WHEN is_known THEN epc(earnings, clicks) END AS epc,
  CASE WHEN is_known THEN coalesce(reversals.reversed, 0) END AS reversed
FROM summed
LEFT JOIN reversals ON reversals.days_before = summed.days_before
ORDER BY summed.days_before
