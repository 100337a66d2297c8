-- Conversion rate: converted_clicks / clicks, rounded half away from zero to 6 places; 0 without clicks. It may exceed 1, since a conversion's click may lie before the window.
-- grain: one row per offer
-- unit: ratio, not a percentage
-- served as: offer_stats_2d.cvr
WITH counted AS (
  SELECT
    offer_id,
    (SELECT count(*) FROM clicks WHERE clicks.offer_id = offers.offer_id AND clicked_at BETWEEN $window_start AND $as_of) AS clicks,
    (
      SELECT count(DISTINCT click_id)
      FROM conversions
      WHERE conversions.offer_id = offers.offer_id AND status = 'credited' AND credited_at BETWEEN $window_start AND $as_of
    ) AS converted_clicks
  FROM offers
),
in_millionths AS (
  SELECT
    offer_id,
    CASE WHEN clicks = 0 THEN 0 ELSE (2 * converted_clicks::HUGEINT * 1000000 + clicks) // (2 * clicks) END AS cvr
  FROM counted
)
SELECT offer_id, (cvr::DECIMAL(30, 0) * 0.000001::DECIMAL(7, 6))::DECIMAL(24, 6) AS cvr
FROM in_millionths
