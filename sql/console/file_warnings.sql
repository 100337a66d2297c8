-- Values of one loaded file that were dropped, replaced or ignored.
-- grain: one row per warning and field
-- key: warning, field
-- nullable: field
SELECT warning, field, rows
FROM ingest_warnings
WHERE file_id::VARCHAR = $file
ORDER BY rows DESC, warning, field
