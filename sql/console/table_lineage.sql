-- Inputs of one table or step, and tables that read it: one step either way.
-- grain: one row per neighbour
-- key: direction, name, layer
-- nullable: none
SELECT 'reads' AS direction, input AS name, input_layer AS layer
FROM lineage
WHERE table_name = $name::VARCHAR
UNION
SELECT 'is read by', table_name, layer
FROM lineage
WHERE input = $name::VARCHAR AND input_layer IN ('mart', 'staging')
ORDER BY direction DESC, name, layer
