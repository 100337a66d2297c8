-- For every landing file rows = accepted + duplicates + rejected, a file's first 1,000 rejected rows are kept, and accepted events are in event files.
-- grain: one row per sum that does not hold
SELECT 'rows of file ' || file_id AS sum_of, rows AS expected, accepted + duplicates + rejected AS found
FROM ingest_files
WHERE rows <> accepted + duplicates + rejected
UNION ALL
SELECT 'rejects of file ' || ingest_files.file_id, least(rejected, 1000), count(rejects.file_id)
FROM ingest_files
LEFT JOIN rejects ON rejects.file_id = ingest_files.file_id
GROUP BY ingest_files.file_id, rejected
HAVING count(rejects.file_id) < least(rejected, 1000) OR count(rejects.file_id) > rejected
UNION ALL
SELECT 'accepted ' || kinds.kind, coalesce(accepted.rows, 0), coalesce(stored.rows, 0)
FROM (VALUES ('clicks'), ('conversions')) AS kinds (kind)
LEFT JOIN (SELECT kind, sum(accepted) AS rows FROM ingest_files GROUP BY kind) AS accepted ON accepted.kind = kinds.kind
LEFT JOIN (SELECT kind, sum(rows) AS rows FROM event_files GROUP BY kind) AS stored ON stored.kind = kinds.kind
WHERE coalesce(accepted.rows, 0) <> coalesce(stored.rows, 0)
