-- Offers with the figures of their window and their conversions day by day, the hottest first; gone ones are among them.
-- grain: one row per offer
-- key: offer_id
-- inputs: offers, offer_stats_2d, offer_daily
WITH days AS (
  SELECT unnest(generate_series(date_trunc('day', $as_of) - INTERVAL 13 DAYS, date_trunc('day', $as_of), INTERVAL 1 DAY))::DATE AS day
),
found AS (
  SELECT *
  FROM offers
  WHERE ($status::VARCHAR = '' OR status = $status::VARCHAR)
    AND ($source::VARCHAR = '' OR source = $source::VARCHAR)
    AND ($search::VARCHAR = '' OR contains(lower(title), lower($search::VARCHAR)) OR offer_id::VARCHAR = $search::VARCHAR OR external_id = $search::VARCHAR)
),
recent AS (
  SELECT day, offer_id, conversions
  FROM offer_daily
  WHERE day >= (date_trunc('day', $as_of) - INTERVAL 13 DAYS)::DATE AND conversions > 0
),
by_day AS (
  SELECT found.offer_id, list(coalesce(recent.conversions, 0) ORDER BY days.day) AS conversions_by_day
  FROM found
  CROSS JOIN days
  LEFT JOIN recent ON recent.day = days.day AND recent.offer_id = found.offer_id
  GROUP BY found.offer_id
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
  by_day.conversions_by_day
FROM found
JOIN by_day ON by_day.offer_id = found.offer_id
LEFT JOIN offer_stats_2d AS stats ON stats.offer_id = found.offer_id
ORDER BY stats.rank NULLS LAST, clicks DESC, found.offer_id
