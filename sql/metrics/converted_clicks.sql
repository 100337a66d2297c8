-- Different clicks among the conversions counted: a click with three milestones counts once.
-- grain: one row per offer
-- key: offer_id
-- unit: clicks
-- served as: offer_stats_2d.converted_clicks
SELECT offers.offer_id, count(DISTINCT credited.click_id) AS converted_clicks
FROM offers
LEFT JOIN (
  SELECT click_id, offer_id
  FROM conversions
  WHERE status = 'credited' AND credited_at BETWEEN $window_start AND $as_of
) AS credited ON credited.offer_id = offers.offer_id
GROUP BY offers.offer_id
