-- Offers with the figures of their window and their conversions by day, highest rank first; removed offers are included.
-- grain: one row per offer
-- key: offer_id
-- nullable: trend, rank
WITH known AS (
  SELECT coalesce(min(day), $as_of::DATE) AS since FROM site_daily
),
found AS (
  SELECT *
  FROM offers
  WHERE ($status::VARCHAR = '' OR status = $status::VARCHAR)
    AND ($source::VARCHAR = '' OR source = $source::VARCHAR)
    AND ($search::VARCHAR = '' OR contains(lower(title), lower($search::VARCHAR)) OR offer_id::VARCHAR = $search::VARCHAR OR external_id = $search::VARCHAR)
),
recent AS (
  SELECT offer_id, $as_of::DATE - day AS age, conversions
  FROM offer_daily
  WHERE day >= $as_of::DATE - 13 AND conversions > 0
),
-- A sum for each day: joining offers with days and collecting lists takes three times as long.
by_day AS (
  SELECT
    offer_id,
    [
      sum(conversions) FILTER (age = 13), sum(conversions) FILTER (age = 12), sum(conversions) FILTER (age = 11),
      sum(conversions) FILTER (age = 10), sum(conversions) FILTER (age = 9), sum(conversions) FILTER (age = 8),
      sum(conversions) FILTER (age = 7), sum(conversions) FILTER (age = 6), sum(conversions) FILTER (age = 5),
      sum(conversions) FILTER (age = 4), sum(conversions) FILTER (age = 3), sum(conversions) FILTER (age = 2),
      sum(conversions) FILTER (age = 1), sum(conversions) FILTER (age = 0)
    ]::BIGINT[] AS sums
  FROM recent
  GROUP BY offer_id
)
SELECT
  found.offer_id,
  found.title,
  found.source,
  found.status,
  found.payout,
  coalesce(stats.clicks, 0) AS clicks,
  coalesce(stats.conversions, 0) AS conversions,
  coalesce(stats.earnings, 0) AS earnings,
  coalesce(stats.epc, 0) AS epc,
  coalesce(stats.cvr, 0) AS cvr,
  stats.trend,
  stats.rank,
  -- A day before the first known day is unknown, not 0: it is left out.
  list_transform(
    list_slice(coalesce(by_day.sums, list_resize([], 14)), greatest(1, 14 - ($as_of::DATE - known.since)), 14), lambda sum: coalesce(sum, 0)
  ) AS conversions_by_day
FROM found
CROSS JOIN known
LEFT JOIN by_day ON by_day.offer_id = found.offer_id
LEFT JOIN offer_stats_2d AS stats ON stats.offer_id = found.offer_id
ORDER BY stats.rank NULLS LAST, clicks DESC, found.offer_id
