-- One offer with its figures; for a removed offer, the export that no longer had it.
-- grain: one row, none where no catalog ever had the offer
-- key: offer_id
-- nullable: as in offers, clicks, conversions, converted_clicks, earnings, epc, cvr, conversions_24h, conversions_prior_24h, trend, rank, gone_run_id, gone_file_id, gone_path
WITH gone AS (
  SELECT history.run_id, max(files.file_id) AS file_id, max_by(files.path, files.file_id) AS path
  FROM offer_history AS history
  JOIN offers ON offers.offer_id = history.offer_id AND offers.version = history.version
  LEFT JOIN ingest_files AS files
    ON files.run_id = history.run_id AND files.kind = 'offers' AND files.source = offers.source AND files.status = 'loaded'
  WHERE history.offer_id::VARCHAR = $offer_id::VARCHAR AND history.status = 'vanished'
  GROUP BY history.run_id
)
SELECT
  offers.*,
  stats.* EXCLUDE (offer_id, as_of),
  gone.run_id AS gone_run_id,
  gone.file_id AS gone_file_id,
  gone.path AS gone_path
FROM offers
LEFT JOIN offer_stats_2d AS stats ON stats.offer_id = offers.offer_id
LEFT JOIN gone ON true
WHERE offers.offer_id::VARCHAR = $offer_id::VARCHAR
