-- Offers as their latest content version, so their source's catalog, has them; gone ones too.
-- grain: one row per offer that was ever in a catalog
-- key: offer_id
-- columns:
--   offer_id: Public id; never reused, survives disappearance and return
--   source: The catalog source, an advertiser or network
--   external_id: The source's own id of the offer
--   status: active, paused, or vanished when the source's export lacks it
--   title: English title, else the first language's
--   titles, descriptions: as in offer_history
--   payout: Gross USD; of a multireward offer the sum of its milestones unless the source gives a total; other currencies by the rates of offerline.json, to 6 places
--   currency, currency_rate: as in offer_history
--   is_multireward: Whether the offer has milestones
--   events, image_name, image_source, level, stars, categories, countries, devices, payment_term, android_min_os, ios_min_os, preview_url: as in offer_history
--   tracking_type: CPI install, CPE event, CPA action, CPL lead
--   report_category, formats, daily_cap, daily_click_cap, multi_complete, version: as in offer_history
--   created_at: The source's, else as-of of the run that first saw the offer, UTC
--   updated_at: As-of of the run that last changed what is published of it, UTC
--   removed_at?: As-of of the run that found it gone from its source's catalog, UTC; NULL while it is there
--   capped_at?: With hide_capped_offers: as-of of the run that last found a daily cap reached, and hid it from the feeds, or just after that of the snapshot before, UTC; NULL where none did
--   uncapped_at?: As-of of the run that showed it again after that, or just after that of the snapshot before, UTC; NULL while it is hidden, or never was
SELECT
  latest.offer_id,
  offers.source,
  offers.external_id,
  latest.status,
  coalesce(latest.titles->>'$.en', latest.titles->>('$."' || json_keys(latest.titles)[1] || '"')) AS title,
  latest.titles,
  latest.descriptions,
  latest.payout,
  latest.currency,
  latest.currency_rate,
  json_array_length(latest.events) > 0 AS is_multireward,
  latest.events,
  latest.image_name,
  latest.image_source,
  latest.level,
  latest.stars,
  latest.categories,
  latest.countries,
  latest.devices,
  latest.payment_term,
  latest.android_min_os,
  latest.ios_min_os,
  latest.preview_url,
  latest.tracking_type,
  latest.report_category,
  latest.formats,
  latest.daily_cap,
  latest.daily_click_cap,
  latest.multi_complete,
  latest.version,
  latest.created_at,
  latest.updated_at,
  CASE WHEN latest.status = 'vanished' THEN latest.valid_from END AS removed_at,
  capped_offers.capped_at,
  capped_offers.uncapped_at
FROM offer_versions AS latest
JOIN offers ON offers.offer_id = latest.offer_id
LEFT JOIN capped_offers ON capped_offers.offer_id = latest.offer_id
QUALIFY row_number() OVER (PARTITION BY latest.offer_id ORDER BY latest.version DESC) = 1
ORDER BY latest.offer_id
