-- Where an offer is heading: up when conversions_24h exceeds conversions_prior_24h by more than a tenth, down when it falls short of it by more than a tenth, else stable.
-- grain: one row per offer
-- key: offer_id
-- unit: up, down or stable
-- served as: offer_stats_2d.trend
WITH counted AS (
  SELECT
    offers.offer_id,
    count(*) FILTER (WHERE credited_at > $as_of - INTERVAL 24 HOURS) AS recent,
    count(*) FILTER (WHERE credited_at <= $as_of - INTERVAL 24 HOURS) AS prior
  FROM offers
  LEFT JOIN (
    SELECT credited_at, offer_id
    FROM conversions
    WHERE status = 'credited' AND credited_at > $as_of - INTERVAL 48 HOURS AND credited_at <= $as_of
  ) AS credited ON credited.offer_id = offers.offer_id
  GROUP BY offers.offer_id
)
SELECT offer_id, trend(recent, prior) AS trend
FROM counted
