-- Reasons for rejected rows by kind, of the first 1,000 rows of each file; the newest first.
-- grain: one row per kind and reason
-- key: kind, reason
-- nullable: none
SELECT
  files.kind,
  rejects.reason,
  count(*) AS rows,
  count(*) FILTER (files.ingested_at > $as_of - INTERVAL 24 HOURS) AS rows_of_last_day,
  count(DISTINCT rejects.file_id) AS files,
  max(rejects.file_id) AS last_file_id,
  max(files.ingested_at) AS last_ingested_at
FROM rejects
JOIN ingest_files AS files ON files.file_id = rejects.file_id
GROUP BY files.kind, rejects.reason
ORDER BY max(files.ingested_at) DESC, count(*) DESC, rejects.reason, files.kind
