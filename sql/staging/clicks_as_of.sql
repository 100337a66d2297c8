-- Clicks by hour from $from to $as_of, both included: whole hours from the roll-up, the hour that $as_of cuts from events.
-- grain: one row per UTC hour and offer in the catalog
-- key: hour, offer_id
-- fills: window_clicks, touched_clicks, day_clicks
WITH named AS (
  SELECT hour, offer_id AS named_id, source, external_id, clicks
  FROM click_hourly
  WHERE hour >= $from AND hour < date_trunc('hour', $as_of + INTERVAL 1 MICROSECOND)
  UNION ALL
  SELECT
    date_trunc('hour', clicked_at) AS hour,
    coalesce(offer_id, 0) AS named_id,
    name_part(offer_id, source) AS source,
    name_part(offer_id, external_id) AS external_id,
    count(*) AS clicks
  FROM edge_clicks
  WHERE clicked_at >= $from AND clicked_at >= date_trunc('hour', $as_of + INTERVAL 1 MICROSECOND) AND clicked_at <= $as_of
  GROUP BY ALL
)
SELECT
  named.hour,
  offer.offer_id,
  sum(named.clicks)::BIGINT AS clicks
FROM named
JOIN offer_keys AS offer USING (named_id, source, external_id)
GROUP BY ALL
