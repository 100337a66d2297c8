-- All clicks ingested, those stamped later than the snapshot's as-of too.
-- grain: one row per click
-- key: click_id
-- columns:
--   click_id: Unique id of the click
--   offer_id?: Public id of the offer: the click's own, in the catalog or not; NULL while the catalog does not know it by the click's source and external_id
--   source?: Catalog source, where the click names its offer by it; else NULL
--   external_id?: The source's id of the offer, where the click names it so; else NULL
--   site_key: Publisher site
--   user_id: Publisher's user
--   clicked_at: When the click was made, as its log says, UTC
--   country?: ISO 3166-1 alpha-2; NULL where unknown
--   device?: android, ios or desktop; NULL where unknown
--   ip?: Address of the user; NULL where unknown, or older than retention.events keeps it
--   user_agent?: Browser or app; NULL likewise
--   sub1?: Publisher's tracking value; NULL where there is none, or older than retention.events keeps it
--   sub2?: Publisher's tracking value; NULL likewise
--   file_id: The file in ingest_files that it came from
--   event_key: The first 60 bits of MD5 of click_id; WHERE event_key = ('0x' || left(md5('…'), 15))::BIGINT AND click_id = '…' finds one click ten times sooner
SELECT
  click_events.click_id,
  coalesce(click_events.offer_id, offers.offer_id) AS offer_id,
  click_events.source,
  click_events.external_id,
  click_events.site_key,
  click_events.user_id,
  click_events.clicked_at,
  click_events.country,
  click_events.device,
  click_events.ip,
  click_events.user_agent,
  click_events.sub1,
  click_events.sub2,
  click_events.file_id,
  click_events.event_key
FROM click_events
LEFT JOIN offers
  ON offers.source = CASE WHEN click_events.offer_id IS NULL THEN click_events.source END
  AND offers.external_id = click_events.external_id
