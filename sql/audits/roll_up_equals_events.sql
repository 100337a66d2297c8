-- On the UTC days that runs changed since the last snapshot, the hourly roll-up has the sums of the events. Hours are
-- truncated as a TIMESTAMP without a zone, which is fast. The roll-up is read by the hours of these days, which skips the
-- rest of history.
-- grain: one row per UTC hour and offer, as clicks name it, with another number of clicks
WITH by_utc_hour AS (
  SELECT date_trunc('hour', make_timestamp(epoch_us(clicked_at))) AS utc_hour, offer_id, source, external_id, count(*) AS clicks
  FROM audited_clicks
  GROUP BY ALL
),
counted AS (
  SELECT
    timezone('UTC', utc_hour) AS hour,
    coalesce(offer_id, 0) AS named_id,
    name_part(offer_id, source) AS source,
    name_part(offer_id, external_id) AS external_id,
    sum(clicks)::BIGINT AS clicks
  FROM by_utc_hour
  GROUP BY ALL
),
audited_hours AS (
  SELECT timezone('UTC', day + to_hours(unnest(range(24)))) AS hour
  FROM audited_days
),
rolled_up AS (
  SELECT hour, offer_id AS named_id, source, external_id, clicks
  FROM click_hourly
  WHERE hour IN (SELECT hour FROM audited_hours)
)
SELECT hour, named_id, source, external_id, counted.clicks AS clicks_in_events, rolled_up.clicks AS clicks_in_roll_up
FROM counted
FULL JOIN rolled_up USING (hour, named_id, source, external_id)
WHERE counted.clicks IS DISTINCT FROM rolled_up.clicks
