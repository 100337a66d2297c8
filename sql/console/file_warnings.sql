-- What was dropped, replaced or passed over in one file that was loaded.
-- grain: one row per warning and field
-- key: warning, field
-- nullable: field
SELECT warning, field, rows
FROM ingest_warnings
WHERE file_id::VARCHAR = $file
ORDER BY rows DESC, warning, field
