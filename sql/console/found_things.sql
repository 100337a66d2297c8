-- Offers, sites, runs and files with exactly this id or name; and those with the text in title, name or path, twenty of each.
-- grain: one row per thing
-- key: kind, id
-- nullable: none
WITH sought AS (
  SELECT $id::VARCHAR AS id, lower($id::VARCHAR) AS text, length($id::VARCHAR) >= 3 AS is_text
)
SELECT kind, id, what, is_exact
FROM (
  SELECT 1 AS place, 'offer' AS kind, offer_id::VARCHAR AS id, title AS what, offer_id::VARCHAR = sought.id OR external_id = sought.id AS is_exact
  FROM offers, sought
  WHERE is_exact OR (is_text AND contains(lower(title), text))
  UNION ALL
  SELECT 2, 'site', site_key, name, site_key = sought.id AS is_exact
  FROM sites, sought
  WHERE is_exact OR (is_text AND contains(lower(name), text))
  UNION ALL
  SELECT 3, 'run', run_id::VARCHAR, pipeline, true
  FROM runs, sought
  WHERE run_id::VARCHAR = sought.id
  UNION ALL
  SELECT 4, 'file', file_id::VARCHAR, path, path = sought.id OR file_id::VARCHAR = sought.id OR sha256 = sought.id AS is_exact
  FROM ingest_files, sought
  WHERE is_exact OR (is_text AND contains(lower(path), text))
)
QUALIFY is_exact OR row_number() OVER (PARTITION BY kind, is_exact ORDER BY id) <= 20
ORDER BY is_exact DESC, place, id
LIMIT 100
