-- Rejected rows of one file, of the first 1,000. Only rows of catalogs are shown: rows of logs hold IP addresses and
-- user agents of people.
-- grain: one row per rejected row
-- key: line
-- nullable: begins
SELECT
  rejects.line,
  rejects.reason,
  rejects.raw_length,
  CASE WHEN files.kind = 'offers' THEN left(rejects.raw, 300) END AS begins
FROM rejects
JOIN ingest_files AS files ON files.file_id = rejects.file_id
WHERE rejects.file_id::VARCHAR = $file
ORDER BY rejects.line
