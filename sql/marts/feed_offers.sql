-- What feeds are made of, before what depends on the site. See src/feed/feed-document.ts for the fields.
-- grain: one row per offer that was ever in a catalog
-- inputs: offers (the mart), offer_stats_2d
SELECT
  offers.offer_id AS id,
  offers.status,
  titles,
  descriptions,
  payout,
  image_name,
  image_source,
  level,
  stars,
  categories,
  countries,
  devices,
  payment_term,
  android_min_os,
  ios_min_os,
  preview_url,
  tracking_type,
  report_category,
  formats,
  daily_cap,
  daily_click_cap,
  multi_complete,
  events,
  created_at,
  updated_at,
  removed_at,
  epc,
  cvr,
  trend,
  rank
FROM snapshot.offers
LEFT JOIN snapshot.offer_stats_2d AS figures ON figures.offer_id = offers.offer_id
ORDER BY offers.offer_id
