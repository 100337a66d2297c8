-- Clicks by hour from $from up to $as_of: whole hours from the roll-up, the hour that $as_of cuts from events.
-- grain: one row per UTC hour and offer in the catalog
-- inputs: click_hourly, edge_clicks, offers
-- fills: window_clicks, touched_clicks, day_clicks
WITH named AS (
  SELECT hour, offer_id, source, external_id, clicks
  FROM click_hourly
  WHERE hour >= $from AND hour < date_trunc('hour', $as_of + INTERVAL 1 MICROSECOND)
  UNION ALL
  SELECT
    date_trunc('hour', clicked_at) AS hour,
    coalesce(offer_id, 0) AS offer_id,
    CASE WHEN offer_id IS NULL THEN source ELSE '' END AS source,
    CASE WHEN offer_id IS NULL THEN external_id ELSE '' END AS external_id,
    count(*) AS clicks
  FROM edge_clicks
  WHERE clicked_at >= $from AND clicked_at >= date_trunc('hour', $as_of + INTERVAL 1 MICROSECOND) AND clicked_at <= $as_of
  GROUP BY ALL
)
SELECT
  named.hour,
  coalesce(by_id.offer_id, by_name.offer_id) AS offer_id,
  sum(named.clicks)::BIGINT AS clicks
FROM named
LEFT JOIN offers AS by_id ON by_id.offer_id = named.offer_id
LEFT JOIN offers AS by_name
  ON by_name.source = CASE WHEN named.offer_id = 0 THEN named.source END
  AND by_name.external_id = named.external_id
WHERE coalesce(by_id.offer_id, by_name.offer_id) IS NOT NULL
GROUP BY ALL
