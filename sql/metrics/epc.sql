-- Earnings per click: earnings / clicks, rounded half away from zero to 6 places in integers, since a DECIMAL division goes through DOUBLE and errs; 0 without clicks.
-- grain: one row per offer
-- unit: USD per click, gross
-- served as: offer_stats_2d.epc
WITH counted AS (
  SELECT
    offer_id,
    (SELECT count(*) FROM clicks WHERE clicks.offer_id = offers.offer_id AND clicked_at BETWEEN $window_start AND $as_of) AS clicks,
    (
      SELECT coalesce(sum(payout), 0)
      FROM conversions
      WHERE conversions.offer_id = offers.offer_id AND status = 'credited' AND credited_at BETWEEN $window_start AND $as_of
    ) AS earnings
  FROM offers
),
in_millionths AS (
  SELECT
    offer_id,
    CASE WHEN clicks = 0 THEN 0 ELSE (2 * (earnings * 1000000)::HUGEINT + clicks) // (2 * clicks) END AS epc
  FROM counted
)
SELECT offer_id, (epc::DECIMAL(30, 0) * 0.000001::DECIMAL(7, 6))::DECIMAL(24, 6) AS epc
FROM in_millionths
