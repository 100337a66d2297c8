-- One landing file, from the ledger.
-- grain: one row per landing file that was read
-- key: file_id
-- nullable: source, reason
SELECT
  file_id,
  path,
  kind,
  source,
  sha256,
  bytes,
  rows,
  accepted,
  duplicates,
  rejected,
  conflicts,
  warnings,
  status,
  reason,
  run_id,
  ingested_at
FROM ingest_files
WHERE file_id::VARCHAR = $file
ORDER BY file_id
