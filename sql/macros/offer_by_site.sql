-- The figures of one offer in offer_stats_2d by site, by the offer's public id. All columns but epc and cvr add up to the
-- offer's figures. No rows for an id that the catalog does not know.
-- grain: one row per site with a click on the offer, or a credited conversion of it, in W
-- inputs: click_events, conversions, offers
-- columns:
--   site_key: Publisher site, as its clicks name it
--   clicks: Clicks with clicked_at in W
--   conversions: Conversions credited at as-of whose credit lies in W
--   converted_clicks: Distinct clicks among these conversions
--   earnings: Sum of their gross payouts, USD
--   epc: Gross USD per click: earnings / clicks, rounded half away from zero to 6 places; 0 without clicks
--   cvr: converted_clicks / clicks as a ratio, rounded half away from zero to 6 places; 0 without clicks
SELECT
  site_key,
  clicks,
  conversions,
  converted_clicks,
  earnings,
  epc(earnings, clicks) AS epc,
  cvr(converted_clicks, clicks) AS cvr
FROM (
  SELECT
    site_key,
    sum(clicks)::BIGINT AS clicks,
    sum(conversions)::BIGINT AS conversions,
    sum(converted_clicks)::BIGINT AS converted_clicks,
    sum(earnings)::DECIMAL(24, 6) AS earnings
  FROM (
    -- Clicks by id and by name one after the other: a condition for both would have every click's text read.
    SELECT site_key, count(*) AS clicks, 0 AS conversions, 0 AS converted_clicks, 0::DECIMAL(15, 6) AS earnings
    FROM click_events
    WHERE click_events.offer_id = an_offer_id AND an_offer_id IN (SELECT offers.offer_id FROM offers)
    GROUP BY site_key
    UNION ALL
    SELECT site_key, count(*), 0, 0, 0
    FROM click_events
    JOIN offers ON offers.source = click_events.source AND offers.external_id = click_events.external_id
    WHERE click_events.offer_id IS NULL AND offers.offer_id = an_offer_id
    GROUP BY site_key
    UNION ALL
    SELECT site_key, 0, count(*), count(DISTINCT click_id), sum(payout)
    FROM conversions
    WHERE conversions.offer_id = an_offer_id AND status = 'credited' AND credited_at BETWEEN $window_start AND $as_of
    GROUP BY site_key
  )
  GROUP BY site_key
)
ORDER BY clicks DESC, site_key
