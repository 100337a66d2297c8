-- A click with its offer and its file; without its IP address and user agent.
-- grain: one row, none where no log has the click
-- key: click_id
-- nullable: offer_id, title, source, external_id, country, device, path, ingested_at, run_id
SELECT
  clicks.click_id,
  clicks.clicked_at,
  clicks.site_key,
  clicks.user_id,
  clicks.offer_id,
  offers.title,
  offers.offer_id IS NOT NULL AS in_catalog,
  clicks.source,
  clicks.external_id,
  clicks.country,
  clicks.device,
  clicks.file_id,
  files.path,
  files.ingested_at,
  files.run_id
FROM clicks
LEFT JOIN offers ON offers.offer_id = clicks.offer_id
LEFT JOIN ingest_files AS files ON files.file_id = clicks.file_id
WHERE clicks.event_key = ('0x' || left(md5($click_id::VARCHAR), 15))::BIGINT AND clicks.click_id = $click_id::VARCHAR
ORDER BY clicks.click_id
