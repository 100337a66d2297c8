-- On the days this run touched, the hourly roll-up is what the events themselves add up to.
-- grain: one row per hour and offer that differs
-- inputs: click_hourly, audited_clicks, audited_days
WITH counted AS (
  SELECT
    date_trunc('hour', clicked_at) AS hour,
    coalesce(offer_id, 0) AS offer_id,
    CASE WHEN offer_id IS NULL THEN source ELSE '' END AS source,
    CASE WHEN offer_id IS NULL THEN external_id ELSE '' END AS external_id,
    count(*) AS clicks
  FROM audited_clicks
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
