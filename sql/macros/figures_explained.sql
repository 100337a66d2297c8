-- The clicks and conversions behind one offer's figures in offer_stats_2d, by the offer's public id, the newest first; also
-- conversions that are pending, or were taken back, or whose milestone is unknown, and so count nowhere. No rows for an id that
-- the catalog does not know. `newest := 100` gives so many of them, in a part of the time. Add up its columns: clicks is
-- count(*) FILTER (in_clicks), earnings is sum(payout) FILTER (in_conversions).
-- grain: one row per click, and one per conversion, of the offer in the figures' windows
-- columns:
--   what: click or conversion
--   happened_at: When the click was made, or the conversion credited, else reversed, else announced; UTC
--   click_id: The click, also of a conversion
--   conversion_id?: NULL for a click
--   site_key: Publisher site
--   user_id: Publisher's user
--   status?: Of a conversion: pending, credited, rejected or charged_back, or unattributed while its milestone is unknown; NULL for a click
--   payout?: Of a conversion: gross USD; NULL while its milestone is unknown, and for a click
--   in_clicks: Whether it counts in clicks, and so in epc and cvr
--   in_conversions: Whether it counts in conversions, converted_clicks and earnings, and so in epc and cvr
--   in_conversions_24h: Whether it counts in conversions_24h, and so in trend and rank
--   in_conversions_prior_24h: Whether it counts in conversions_prior_24h, and so in trend and rank
-- Both kinds of clicks are cut by themselves: of files without any of the newest only the times are looked at then.
(
  SELECT
    'click' AS what,
    click.clicked_at AS happened_at,
    click.click_id,
    NULL::VARCHAR AS conversion_id,
    click.site_key,
    click.user_id,
    NULL::VARCHAR AS status,
    NULL::DECIMAL(15, 6) AS payout,
    true AS in_clicks,
    false AS in_conversions,
    false AS in_conversions_24h,
    false AS in_conversions_prior_24h
  FROM click_events AS click
  WHERE click.offer_id = an_offer_id
    AND an_offer_id IN (SELECT offers.offer_id FROM offers)
    AND click.clicked_at BETWEEN $window_start AND $as_of
  ORDER BY click.clicked_at DESC, click.click_id
  LIMIT newest
)
UNION ALL
-- Those by name apart from those by id: a condition for both would have every click's text read.
(
  SELECT 'click', click.clicked_at, click.click_id, NULL, click.site_key, click.user_id, NULL, NULL, true, false, false, false
  FROM named_click_events AS click
  JOIN offers ON offers.source = click.source AND offers.external_id = click.external_id
  WHERE offers.offer_id = an_offer_id
    AND click.clicked_at BETWEEN $window_start AND $as_of
  ORDER BY click.clicked_at DESC, click.click_id
  LIMIT newest
)
UNION ALL
SELECT
  'conversion',
  coalesce(conversion.credited_at, conversion.reversed_at, conversion.occurred_at),
  conversion.click_id,
  conversion.conversion_id,
  conversion.site_key,
  conversion.user_id,
  conversion.status,
  conversion.payout,
  false,
  conversion.status = 'credited' AND conversion.credited_at >= $window_start,
  conversion.status = 'credited' AND conversion.credited_at > $as_of - INTERVAL 24 HOURS,
  conversion.status = 'credited' AND conversion.credited_at > $as_of - INTERVAL 48 HOURS AND conversion.credited_at <= $as_of - INTERVAL 24 HOURS
FROM conversions AS conversion
WHERE conversion.offer_id = an_offer_id
  -- The window begins within these hours.
  AND conversion.occurred_at > $as_of - INTERVAL 48 HOURS
  AND conversion.occurred_at <= $as_of
ORDER BY happened_at DESC, click_id, conversion_id
LIMIT newest
