-- What was dropped or passed over in files that were loaded: values that make no sense, fields that nobody knows.
-- grain: one row per file, warning and field
-- inputs: ingest_warnings
-- columns:
--   file_id: The file in ingest_files
--   warning: Code of what was found
--   field: Field that it was found in; NULL where it is about the whole file
--   rows: Rows of the file with it, of an unknown field the rows with any; ingest_files.warnings counts each unknown field once
SELECT file_id, warning, field, rows
FROM ingest_warnings
ORDER BY file_id, warning, field
