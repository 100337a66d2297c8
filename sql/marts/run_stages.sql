-- Stages of the runs. The stage that writes this snapshot is still running as it is written.
-- grain: one row per run and stage
-- key: run_id, stage
-- inputs: run_stages
-- columns:
--   run_id: The run in runs
--   stage: Which step, such as ingest, models or publish
--   started_at: Wall clock, UTC
--   finished_at?: Wall clock, UTC; NULL while it runs
--   status: running, done, failed, or interrupted when its process died
--   rows_in?: Rows it read, where it counts any
--   rows_out?: Rows it wrote, where it counts any
--   bytes?: Bytes it read or wrote, where it counts any
--   error?: Why it failed
SELECT run_id, stage, started_at, finished_at, status, rows_in, rows_out, bytes, error
FROM run_stages
ORDER BY run_id, started_at, stage
