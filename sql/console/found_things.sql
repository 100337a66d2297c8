-- Offers, sites, runs and files with exactly this id or name.
-- grain: one row per thing
-- key: kind, id
-- nullable: none
SELECT kind, id, what
FROM (
  SELECT 1 AS place, 'offer' AS kind, offer_id::VARCHAR AS id, title AS what FROM offers WHERE offer_id::VARCHAR = $id::VARCHAR OR external_id = $id::VARCHAR
  UNION ALL
  SELECT 2, 'site', site_key, name FROM sites WHERE site_key = $id::VARCHAR
  UNION ALL
  SELECT 3, 'run', run_id::VARCHAR, pipeline FROM runs WHERE run_id::VARCHAR = $id::VARCHAR
  UNION ALL
  SELECT 4, 'file', file_id::VARCHAR, path FROM ingest_files WHERE path = $id::VARCHAR OR file_id::VARCHAR = $id::VARCHAR OR sha256 = $id::VARCHAR
)
ORDER BY place, id
LIMIT 100
