-- A figure with its query on this snapshot.
-- grain: one row, none where there is no such figure
-- key: metric
-- nullable: none
SELECT metric, definition, unit, grain, served_as, sql
FROM metrics
WHERE metric = $name::VARCHAR
ORDER BY metric
