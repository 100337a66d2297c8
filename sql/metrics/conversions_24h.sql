-- Conversions credited in the last 24 hours: after as-of - 24 h, up to and with as-of.
-- grain: one row per offer
-- key: offer_id
-- unit: conversions
-- served as: offer_stats_2d.conversions_24h
SELECT offers.offer_id, count(credited.conversion_id) AS conversions_24h
FROM offers
LEFT JOIN (
  SELECT conversion_id, offer_id
  FROM conversions
  WHERE status = 'credited' AND credited_at > $as_of - INTERVAL 24 HOURS AND credited_at <= $as_of
) AS credited ON credited.offer_id = offers.offer_id
GROUP BY offers.offer_id
