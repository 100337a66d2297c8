-- What each figure means, and the query that computes it from clicks, conversions and offers of this file.
-- grain: one row per figure
-- key: metric
-- columns:
--   metric: Name of the figure, also the column that its query gives
--   definition: What it counts or measures, in words
--   unit: What it is measured in
--   grain: What its query gives one row of
--   served_as: Table and column, or field of the publisher API, that shows it
--   sql: The query, with this snapshot's window written into it; run it on this file: it gives the served figure
SELECT metric, definition, unit, grain, served_as, sql
FROM run_metrics
ORDER BY metric
