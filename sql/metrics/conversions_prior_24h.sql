-- Conversions credited in the 24 hours before the last 24 hours: after as-of - 48 h, up to and with as-of - 24 h.
-- grain: one row per offer
-- key: offer_id
-- unit: conversions
-- served as: offer_stats_2d.conversions_prior_24h
SELECT offers.offer_id, count(credited.conversion_id) AS conversions_prior_24h
FROM offers
LEFT JOIN (
  SELECT conversion_id, offer_id
  FROM conversions
  WHERE status = 'credited' AND credited_at > $as_of - INTERVAL 48 HOURS AND credited_at <= $as_of - INTERVAL 24 HOURS
) AS credited ON credited.offer_id = offers.offer_id
GROUP BY offers.offer_id
