-- Figures by country and device: clicks by their day, conversions by that of their credit, with the country and device of
-- their click. Over countries and devices all columns but epc and cvr add up to those of offer_daily. Reads the clicks of
-- these days, and of these only what `WHERE day = …` leaves; offers that no catalog has are left out.
-- grain: one row per UTC day, offer in the catalog, country and device with a click or a credited conversion, of the last days (30, or as many as are named: days := 7) up to as-of
-- columns:
--   day: UTC day
--   offer_id: Public id of the offer
--   country?: ISO 3166-1 alpha-2; NULL where unknown
--   device?: android, ios or desktop; NULL where unknown
--   clicks: Clicks with clicked_at on the day, up to as-of
--   conversions: Conversions credited at as-of whose credit is on the day
--   converted_clicks: Distinct clicks among these conversions
--   earnings: Sum of their gross payouts, USD
--   epc: Gross USD per click: earnings / clicks, rounded half away from zero to 6 places; 0 without clicks
--   cvr: converted_clicks / clicks as a ratio, rounded half away from zero to 6 places; 0 without clicks; may exceed 1, since a click may lie before the day
SELECT
  day,
  offer_id,
  country,
  device,
  clicks,
  conversions,
  converted_clicks,
  earnings,
  epc(earnings, clicks) AS epc,
  cvr(converted_clicks, clicks) AS cvr
FROM (
  SELECT
    day,
    offer_id,
    country,
    device,
    coalesce(sum(clicks), 0)::BIGINT AS clicks,
    coalesce(sum(conversions), 0)::BIGINT AS conversions,
    coalesce(sum(converted_clicks), 0)::BIGINT AS converted_clicks,
    coalesce(sum(earnings), 0)::DECIMAL(24, 6) AS earnings
  FROM (
    -- Clicks by id and by name one after the other: a condition for both would have every click's text read.
    SELECT day, click.offer_id, country, device, count(*) AS clicks
    FROM dated_click_events AS click
    WHERE click.offer_id IN (SELECT offers.offer_id FROM offers)
      AND day > utc_day($as_of) - days::INTEGER
    GROUP BY ALL
    UNION ALL BY NAME
    SELECT day, offers.offer_id, country, device, count(*) AS clicks
    FROM dated_named_click_events AS click
    JOIN offers ON offers.source = click.source AND offers.external_id = click.external_id
    WHERE day > utc_day($as_of) - days::INTEGER
    GROUP BY ALL
    UNION ALL BY NAME
    SELECT
      day,
      offer_id,
      country,
      device,
      count(*) AS conversions,
      count(DISTINCT click_id) AS converted_clicks,
      sum(payout) AS earnings
    FROM dated_conversions
    WHERE status = 'credited' AND day > utc_day($as_of) - days::INTEGER
    GROUP BY ALL
  )
  GROUP BY ALL
)
ORDER BY day, offer_id, clicks DESC, country, device
