-- Counts of all landing files that were read, by kind and status.
-- grain: one row per kind and status
-- key: kind, status
-- nullable: none
SELECT
  kind,
  status,
  count(*) AS files,
  sum(rows)::BIGINT AS rows,
  sum(accepted)::BIGINT AS accepted,
  sum(duplicates)::BIGINT AS duplicates,
  sum(rejected)::BIGINT AS rejected,
  sum(conflicts)::BIGINT AS conflicts,
  sum(warnings)::BIGINT AS warnings
FROM ingest_files
GROUP BY kind, status
ORDER BY kind, status
