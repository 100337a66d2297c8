-- Every content version of every offer, as its source's catalog gave it, with the span over which it holds.
-- grain: one row per offer and version
-- key: offer_id, version
-- columns:
--   offer_id: Public id of the offer
--   version: Number of the content version, from 1
--   valid_from: Begin of its span, UTC: as-of of the run that wrote it, or a microsecond after the version before; for figures the first version also reaches back for ever
--   valid_to?: Begin of the next version, UTC; NULL for the latest
--   status: active, paused or vanished
--   payout: Gross USD; other currencies by the rates of offerline.json, to 6 places
--   currency?: ISO 4217 code of the currency that the source gave its amounts in; NULL in versions that an older offerline wrote
--   currency_rate?: USD for one unit of it, as it was converted: payout / currency_rate is the source's amount; NULL likewise
--   titles: JSON, title by language code
--   descriptions: JSON, description by language code
--   events: JSON list of milestones: event_id, descriptions, payout (gross USD)
--   level: Difficulty label; empty without one
--   stars: Rating from 0 to 5; 0 without one
--   categories: Category names
--   countries: ISO 3166-1 alpha-2 codes; empty means worldwide
--   devices: android, ios, desktop; empty means all
--   payment_term: net30 or net60
--   tracking_type: CPI, CPE, CPA or CPL
--   report_category: app, web, survey or game
--   formats: Placements: offerwall, banners, surveys, PTC
--   daily_cap?: Most conversions a day; NULL means unlimited
--   daily_click_cap?: Most clicks a day; NULL means unlimited
--   multi_complete: Whether a user may complete it several times
--   image_name: Published name of the picture, stable per content; empty without one
--   image_source: The advertiser's address of the picture; empty without one
--   android_min_os?: Lowest Android version; NULL means any
--   ios_min_os?: Lowest iOS version; NULL means any
--   preview_url?: Public page about the offer; NULL without one
--   published_sha256: Digest of what publishers see of this version, lower-case hex; equal ones look the same to them
--   content_sha256: Digest of all that the version says, with what is not published of it, lower-case hex
--   created_at: As published with this version, UTC
--   updated_at: As published with this version, UTC
--   run_id: The run in runs that wrote it
SELECT
  offer_id,
  version,
  valid_from,
  lead(valid_from) OVER (PARTITION BY offer_id ORDER BY version) AS valid_to,
  status,
  payout,
  currency,
  currency_rate,
  titles,
  descriptions,
  events,
  level,
  stars,
  categories,
  countries,
  devices,
  payment_term,
  tracking_type,
  report_category,
  formats,
  daily_cap,
  daily_click_cap,
  multi_complete,
  image_name,
  image_source,
  android_min_os,
  ios_min_os,
  preview_url,
  published_sha256,
  content_sha256,
  created_at,
  updated_at,
  run_id
FROM offer_versions
ORDER BY offer_id, version
