-- Place among the offers that are active at as-of and have a credited conversion in the 48 hours up to as-of: by the number of those conversions, then by their earnings, both descending, then by offer_id. 1 is hottest; NULL for the others.
-- grain: one row per offer
-- key: offer_id
-- unit: place, from 1
-- served as: offer_stats_2d.rank
WITH recent_conversions AS (
  SELECT offer_id, count(*) AS conversions, sum(payout) AS earnings
  FROM conversions
  WHERE status = 'credited' AND credited_at > $as_of - INTERVAL 48 HOURS AND credited_at <= $as_of
  GROUP BY offer_id
),
active AS (
  SELECT offer_id
  FROM offer_history
  WHERE status = 'active' AND (valid_from <= $as_of OR version = 1) AND (valid_to > $as_of OR valid_to IS NULL)
),
ranked AS (
  SELECT recent_conversions.offer_id, row_number() OVER (ORDER BY conversions DESC, earnings DESC, recent_conversions.offer_id) AS rank
  FROM recent_conversions
  JOIN active ON active.offer_id = recent_conversions.offer_id
)
SELECT offers.offer_id, ranked.rank
FROM offers
LEFT JOIN ranked ON ranked.offer_id = offers.offer_id
