-- Earnings per click: earnings / clicks, rounded half away from zero to 6 places in integers, since a DECIMAL division goes through DOUBLE and errs; 0 without clicks.
-- grain: one row per offer
-- key: offer_id
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
)
SELECT offer_id, epc(earnings, clicks) AS epc
FROM counted
