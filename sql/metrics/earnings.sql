-- What the advertisers pay for the conversions counted, before any site's commission.
-- grain: one row per offer
-- key: offer_id
-- unit: USD, gross
-- served as: offer_stats_2d.earnings
SELECT offers.offer_id, coalesce(sum(credited.payout), 0)::DECIMAL(24, 6) AS earnings
FROM offers
LEFT JOIN (
  SELECT payout, offer_id
  FROM conversions
  WHERE status = 'credited' AND credited_at BETWEEN $window_start AND $as_of
) AS credited ON credited.offer_id = offers.offer_id
GROUP BY offers.offer_id
