-- What each table is computed from, read off the SQL of the models: one step; follow input to go on.
-- grain: one row per table or step in between, and input
-- key: table_name, layer, input, input_layer
-- columns:
--   table_name: A table or view of this file (layer mart), or a step in between (layer staging)
--   layer: mart or staging
--   input: What its SQL reads
--   input_layer: mart and staging as above; warehouse: a table of the pipeline's own state; landing: what came in from outside; code: text of the pipeline's own
SELECT table_name, layer, input, input_layer
FROM run_lineage
ORDER BY table_name, layer, input, input_layer
