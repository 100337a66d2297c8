-- Rows of landing files that were refused: the first 1,000 of each file; ingest_files counts all of them.
-- grain: one row per rejected row
-- key: file_id, line
-- columns:
--   file_id: The file in ingest_files
--   path: Path under the landing folder
--   line: Line of NDJSON, element of a JSON document, row of CSV (the header is row 1) or Parquet; from 1
--   reason: Code of what is wrong with it
--   raw: The first 2,000 characters of the row as it stood there; for CSV and Parquet of the record as JSON
--   raw_length: Characters of the whole row
--   rejected_at: When the run read its file, UTC
SELECT
  rejects.file_id,
  rejects.path,
  rejects.line,
  rejects.reason,
  rejects.raw,
  rejects.raw_length,
  ingest_files.ingested_at AS rejected_at
FROM rejects
JOIN ingest_files ON ingest_files.file_id = rejects.file_id
ORDER BY rejects.file_id, rejects.line
