-- On the days this run touched, the hourly roll-up is what the events themselves add up to.
-- grain: one row per hour and offer that differs
-- inputs: click_hourly, audited_clicks, audited_days
-- hours count from 0001-01-01, since integer division rounds towards zero
WITH by_hour_number AS (
  SELECT (epoch_us(clicked_at) + 62135596800000000) // 3600000000 AS hour_number, offer_id, source, external_id, count(*) AS clicks
  FROM audited_clicks
  GROUP BY ALL
),
counted AS (
  SELECT
    make_timestamptz(hour_number * 3600000000 - 62135596800000000) AS hour,
    coalesce(offer_id, 0) AS offer_id,
    CASE WHEN offer_id IS NULL THEN source ELSE '' END AS source,
    CASE WHEN offer_id IS NULL THEN external_id ELSE '' END AS external_id,
    sum(clicks)::BIGINT AS clicks
  FROM by_hour_number
  GROUP BY ALL
),
rolled_up AS (
  SELECT *
  FROM click_hourly
  WHERE hour::DATE IN (SELECT day FROM audited_days)
)
SELECT hour, offer_id, source, external_id, counted.clicks AS clicks_in_events, rolled_up.clicks AS clicks_in_roll_up
FROM counted
FULL JOIN rolled_up USING (hour, offer_id, source, external_id)
WHERE counted.clicks IS DISTINCT FROM rolled_up.clicks
