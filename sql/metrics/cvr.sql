-- Conversion rate: converted_clicks / clicks, rounded half away from zero to 6 places; 0 without clicks. It may exceed 1, since a conversion's click may lie before the window.
-- grain: one row per offer
-- key: offer_id
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
)
SELECT offer_id, cvr(converted_clicks, clicks) AS cvr
FROM counted
