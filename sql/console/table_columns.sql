-- Columns of one table, with their meanings.
-- grain: one row per column
-- key: name
-- nullable: meaning
SELECT column_name AS name, data_type AS type, comment AS meaning
FROM duckdb_columns()
WHERE NOT internal AND database_name = current_catalog() AND table_name = $name::VARCHAR
ORDER BY column_index
