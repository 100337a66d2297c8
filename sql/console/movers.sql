-- Offers whose conversions changed most: the last 24 hours compared with the 24 hours before.
-- grain: one row per offer
-- key: offer_id
-- nullable: none
SELECT
  stats.offer_id,
  offers.title,
  stats.conversions_24h,
  stats.conversions_prior_24h,
  stats.conversions_24h - stats.conversions_prior_24h AS change,
  stats.trend
FROM offer_stats_2d AS stats
JOIN offers ON offers.offer_id = stats.offer_id
WHERE stats.conversions_24h <> stats.conversions_prior_24h
ORDER BY abs(stats.conversions_24h - stats.conversions_prior_24h) DESC, stats.offer_id
LIMIT 10
