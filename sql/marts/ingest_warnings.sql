-- What was dropped, cut, replaced or passed over in files that were loaded: values that make no sense, half surrogates, fields that nobody knows.
-- grain: one row per file, warning and field
-- key: file_id, warning, field
-- columns:
--   file_id: The file in ingest_files
--   warning: Code of what was found; the first twenty unknown fields of a file have a row each, further_unknown_fields is the row of the others
--   field?: Field that it was found in; NULL where it is about no field alone
--   rows: Rows of the file with it; of an unknown field of a log the rows with any; of further_unknown_fields the number of these fields
SELECT file_id, warning, field, rows
FROM ingest_warnings
ORDER BY file_id, warning, field
