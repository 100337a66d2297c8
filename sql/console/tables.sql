-- Tables and views of the snapshot.
-- grain: one row per table or view
-- key: name
-- nullable: purpose
SELECT name, kind, columns, purpose
FROM (
  SELECT table_name AS name, 'table' AS kind, column_count AS columns, comment AS purpose
  FROM duckdb_tables()
  WHERE NOT internal AND database_name = current_catalog()
  UNION ALL
  SELECT view_name, 'files of events', column_count, comment
  FROM duckdb_views()
  WHERE NOT internal AND database_name = current_catalog()
)
ORDER BY name
