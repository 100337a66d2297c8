-- The figures of offer_stats_2d by offer and site. All columns but epc and cvr add up over sites to the offer's figures; offers
-- that no catalog has are left out.
-- grain: one row per offer in the catalog and site with a click on the offer, or a credited conversion of it, in W
-- columns:
--   offer_id: Public id of the offer
--   site_key: Publisher site, as its clicks name it
--   clicks: Clicks with clicked_at in W
--   conversions: Conversions credited at as-of whose credit is in W
--   converted_clicks: Distinct clicks among these conversions
--   earnings: Sum of their gross payouts, USD
--   epc: Gross USD per click: earnings / clicks, rounded half away from zero to 6 places; 0 without clicks
--   cvr: converted_clicks / clicks as a ratio, rounded half away from zero to 6 places; 0 without clicks
SELECT
  offer_id,
  site_key,
  clicks,
  conversions,
  converted_clicks,
  earnings,
  epc(earnings, clicks) AS epc,
  cvr(converted_clicks, clicks) AS cvr
FROM (
  SELECT
    offer_id,
    site_key,
    coalesce(sum(clicks), 0)::BIGINT AS clicks,
    coalesce(sum(conversions), 0)::BIGINT AS conversions,
    coalesce(sum(converted_clicks), 0)::BIGINT AS converted_clicks,
    coalesce(sum(earnings), 0)::DECIMAL(24, 6) AS earnings
  FROM (
    -- Clicks by id and by name one after the other: a condition for both would have every click's text read.
    SELECT click_events.offer_id, site_key, count(*) AS clicks
    FROM click_events
    WHERE click_events.offer_id IN (SELECT offers.offer_id FROM offers)
    GROUP BY click_events.offer_id, site_key
    UNION ALL BY NAME
    SELECT offers.offer_id, site_key, count(*) AS clicks
    FROM named_click_events AS click
    JOIN offers ON offers.source = click.source AND offers.external_id = click.external_id
    GROUP BY offers.offer_id, site_key
    UNION ALL BY NAME
    SELECT
      conversions.offer_id,
      site_key,
      count(*) AS conversions,
      count(DISTINCT click_id) AS converted_clicks,
      sum(payout) AS earnings
    FROM conversions
    WHERE status = 'credited' AND credited_at BETWEEN $window_start AND $as_of
    GROUP BY conversions.offer_id, site_key
  )
  GROUP BY offer_id, site_key
)
ORDER BY offer_id, clicks DESC, site_key
