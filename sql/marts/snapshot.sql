-- This snapshot: its id, the moment that its figures are of, and the versions that wrote it.
-- grain: one row per snapshot, of this one alone
-- key: snapshot_id
-- columns:
--   snapshot_id: Id of the snapshot, the name of its folder
--   as_of: The moment that all figures are true for, UTC
--   run_id: Number of the run that published it
--   schema_version: Version of the layout of tables and files
--   offerline_version: Version of offerline that wrote it
--   duckdb_version: Version of DuckDB that wrote it
SELECT snapshot_id, as_of, run_id, schema_version, offerline_version, version() AS duckdb_version
FROM run_snapshot
