-- Rows of one file that were refused, of the first 1,000. Their text is shown of catalogs only: rows of logs hold
-- addresses and browsers of people.
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
