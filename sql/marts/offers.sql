-- Offers as their latest content version, so their source's catalog, has them; gone ones too.
-- grain: one row per offer that was ever in a catalog
-- key: offer_id
-- inputs: offers, offer_versions
-- columns:
--   offer_id: Public id; never reused, survives disappearance and return
--   source: The catalog source, an advertiser or network
--   external_id: The source's own id of the offer
--   status: active, paused, or vanished when the source's export lacks it
--   title: English title, else the first language's
--   titles: JSON, title by language code
--   descriptions: JSON, description by language code
--   payout: Gross USD; of a multireward offer the sum of its milestones unless the source gives a total; other currencies by the rates of offerline.json, to 6 places
--   is_multireward: Whether the offer has milestones
--   events: JSON list of milestones: event_id, descriptions, payout (gross USD)
--   image_name: Published name of the picture, stable per content; empty without one
--   image_source: The advertiser's address of the picture; empty without one
--   level: Difficulty label; empty without one
--   stars: Rating from 0 to 5; 0 without one
--   categories: Category names
--   countries: ISO 3166-1 alpha-2 codes; empty means worldwide
--   devices: android, ios, desktop; empty means all
--   payment_term: net30 or net60
--   android_min_os?: Lowest Android version; NULL means any
--   ios_min_os?: Lowest iOS version; NULL means any
--   preview_url?: Public page about the offer; NULL without one
--   tracking_type: CPI install, CPE event, CPA action, CPL lead
--   report_category: app, web, survey or game
--   formats: Placements: offerwall, banners, surveys, PTC
--   daily_cap?: Most conversions a day; NULL means unlimited
--   daily_click_cap?: Most clicks a day; NULL means unlimited
--   multi_complete: Whether a user may complete it several times
--   version: Number of the content version, from 1
--   created_at: The source's, else as-of of the run that first saw the offer, UTC
--   updated_at: As-of of the run that last changed what is published of it, UTC
--   removed_at?: As-of of the run that found it gone from its source's catalog, UTC; NULL while it is there
SELECT
  latest.offer_id,
  offers.source,
  offers.external_id,
  latest.status,
  coalesce(latest.titles->>'$.en', latest.titles->>('$."' || json_keys(latest.titles)[1] || '"')) AS title,
  latest.titles,
  latest.descriptions,
  latest.payout,
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
  CASE WHEN latest.status = 'vanished' THEN latest.valid_from END AS removed_at
FROM offer_versions AS latest
JOIN offers ON offers.offer_id = latest.offer_id
JOIN (SELECT offer_id, max(version) AS version FROM offer_versions GROUP BY offer_id) AS last
  ON last.offer_id = latest.offer_id AND last.version = latest.version
ORDER BY latest.offer_id
