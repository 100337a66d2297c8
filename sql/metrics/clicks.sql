-- Clicks made yesterday or today up to the snapshot's as-of, days being UTC.
-- grain: one row per offer
-- key: offer_id
-- unit: clicks
-- served as: offer_stats_2d.clicks
SELECT offers.offer_id, count(counted.click_id) AS clicks
FROM offers
LEFT JOIN (
  SELECT click_id, offer_id
  FROM clicks
  WHERE clicked_at BETWEEN $window_start AND $as_of
) AS counted ON counted.offer_id = offers.offer_id
GROUP BY offers.offer_id
