-- offer_stats_2d anew from what analysts see: clicks, conversions, offers and offer_history as of $as_of, in one query.
-- Written apart from the models on purpose: no roll-up, no window of theirs, another way of rounding.
WITH moment AS (
  SELECT $as_of AS t, date_trunc('day', $as_of) - INTERVAL 1 DAY AS w
),
credits AS (
  SELECT
    offer_id,
    click_id,
    payout,
    credited_at BETWEEN w AND t AS in_window,
    credited_at > t - INTERVAL 24 HOURS AND credited_at <= t AS is_recent,
    credited_at > t - INTERVAL 48 HOURS AND credited_at <= t - INTERVAL 24 HOURS AS is_prior
  FROM conversions, moment
  WHERE status = 'credited'
),
counted AS (
  SELECT
    offers.offer_id,
    (SELECT count(*) FROM clicks, moment WHERE clicks.offer_id = offers.offer_id AND clicked_at BETWEEN w AND t) AS clicks,
    (SELECT count(*) FROM credits WHERE credits.offer_id = offers.offer_id AND in_window) AS conversions,
    (SELECT count(DISTINCT click_id) FROM credits WHERE credits.offer_id = offers.offer_id AND in_window) AS converted_clicks,
    (SELECT coalesce(sum(payout), 0) FROM credits WHERE credits.offer_id = offers.offer_id AND in_window) AS earnings,
    (SELECT count(*) FROM credits WHERE credits.offer_id = offers.offer_id AND is_recent) AS conversions_24h,
    (SELECT count(*) FROM credits WHERE credits.offer_id = offers.offer_id AND is_prior) AS conversions_prior_24h,
    (SELECT coalesce(sum(payout), 0) FROM credits WHERE credits.offer_id = offers.offer_id AND (is_recent OR is_prior)) AS earnings_48h,
    (SELECT arg_max(status, version) FROM offer_history, moment WHERE offer_history.offer_id = offers.offer_id AND (valid_from <= t OR version = 1)) AS status_at_t
  FROM offers
),
in_millionths AS (
  SELECT
    *,
    (earnings * 1000000)::HUGEINT // greatest(clicks, 1) AS epc,
    (earnings * 1000000)::HUGEINT % greatest(clicks, 1) AS epc_left,
    (converted_clicks * 1000000)::HUGEINT // greatest(clicks, 1) AS cvr,
    (converted_clicks * 1000000)::HUGEINT % greatest(clicks, 1) AS cvr_left,
    conversions_24h + conversions_prior_24h AS heat
  FROM counted
)
SELECT
  offer_id,
  clicks,
  conversions,
  converted_clicks,
  earnings::DECIMAL(24, 6) AS earnings,
  CASE WHEN clicks = 0 THEN 0 WHEN 2 * epc_left >= clicks THEN epc + 1 ELSE epc END AS epc_millionths,
  CASE WHEN clicks = 0 THEN 0 WHEN 2 * cvr_left >= clicks THEN cvr + 1 ELSE cvr END AS cvr_millionths,
  conversions_24h,
  conversions_prior_24h,
  CASE
    WHEN conversions_24h * 10 > conversions_prior_24h * 11 THEN 'up'
    WHEN conversions_24h * 10 < conversions_prior_24h * 9 THEN 'down'
    ELSE 'stable'
  END AS trend,
  CASE WHEN status_at_t = 'active' AND heat > 0 THEN
    1 + (
      SELECT count(*)
      FROM in_millionths AS hotter
      WHERE hotter.status_at_t = 'active' AND hotter.heat > 0
        AND (-hotter.heat, -hotter.earnings_48h, hotter.offer_id) < (-in_millionths.heat, -in_millionths.earnings_48h, in_millionths.offer_id)
    )
  END AS rank
FROM in_millionths
WHERE clicks > 0 OR conversions > 0 OR heat > 0
ORDER BY offer_id
