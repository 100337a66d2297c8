-- Landing files that were read, newest first, filtered by kind, status, run and a part of the path.
-- grain: one row per landing file that was read
-- key: file_id
-- nullable: reason
SELECT
  file_id,
  path,
  kind,
  status,
  rows,
  accepted,
  duplicates,
  rejected,
  conflicts,
  warnings,
  bytes,
  reason,
  run_id,
  ingested_at
FROM ingest_files
WHERE ($kind = '' OR kind = $kind)
  AND ($status = '' OR status = $status)
  AND ($run = '' OR run_id::VARCHAR = $run)
  AND ($path = '' OR contains(lower(path), lower($path)))
ORDER BY file_id DESC
