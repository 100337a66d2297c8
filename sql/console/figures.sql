-- Definitions of the figures.
-- grain: one row per figure
-- key: metric
-- nullable: none
SELECT metric, definition, unit, grain, served_as
FROM metrics
ORDER BY metric
