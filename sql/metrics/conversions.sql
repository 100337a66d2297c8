-- Conversions whose credit is in yesterday or today up to the snapshot's as-of, days being UTC, and that were neither rejected nor charged back by then.
-- grain: one row per offer
-- key: offer_id
-- unit: conversions
-- served as: offer_stats_2d.conversions
SELECT offers.offer_id, count(credited.conversion_id) AS conversions
FROM offers
LEFT JOIN (
  SELECT conversion_id, offer_id
  FROM conversions
  WHERE status = 'credited' AND credited_at BETWEEN $window_start AND $as_of
) AS credited ON credited.offer_id = offers.offer_id
GROUP BY offers.offer_id
