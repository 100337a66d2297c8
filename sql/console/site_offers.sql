-- One site's offers of the window of the figures, who earns most first.
-- grain: one row per offer in the catalog with a click or a credited conversion of the site in the window
-- key: offer_id
-- inputs: clicks, conversions, offers
WITH counted AS (
  SELECT offer_id, count(*) AS clicks, 0 AS conversions, 0 AS converted_clicks, 0::DECIMAL(24, 6) AS earnings
  FROM clicks
  WHERE site_key = $site_key::VARCHAR AND clicked_at BETWEEN date_trunc('day', $as_of) - INTERVAL 1 DAY AND $as_of
  GROUP BY offer_id
  UNION ALL
  SELECT offer_id, 0, count(*), count(DISTINCT click_id), sum(payout)
  FROM conversions
  WHERE site_key = $site_key::VARCHAR AND status = 'credited' AND credited_at BETWEEN date_trunc('day', $as_of) - INTERVAL 1 DAY AND $as_of
  GROUP BY offer_id
),
summed AS (
  SELECT
    offer_id,
    sum(clicks)::BIGINT AS clicks,
    sum(conversions)::BIGINT AS conversions,
    sum(converted_clicks)::BIGINT AS converted_clicks,
    sum(earnings)::DECIMAL(24, 6) AS earnings
  FROM counted
  GROUP BY offer_id
)
SELECT
  offers.offer_id,
  offers.title,
  offers.status,
  summed.clicks,
  summed.conversions,
  summed.earnings,
  epc(summed.earnings, summed.clicks) AS epc,
  cvr(summed.converted_clicks, summed.clicks) AS cvr
FROM summed
JOIN offers ON offers.offer_id = summed.offer_id
ORDER BY summed.earnings DESC, summed.clicks DESC, offers.offer_id
