-- Stages of the runs in runs. The stage that writes this snapshot is still running as it is written.
-- grain: one row per run and stage
-- key: run_id, stage
-- columns:
--   run_id: The run in runs
--   stage: Which step, such as ingest, models or publish
--   started_at: When it began, wall clock, UTC
--   finished_at?: When it ended, wall clock, UTC; NULL while it runs, and where its process died
--   status: running, done, failed, or interrupted when its process died
--   rows_in?: Rows it read; NULL where it counts none
--   rows_out?: Rows it wrote; NULL where it counts none
--   bytes?: Bytes it read or wrote; NULL where it counts none
--   error?: Why it failed or was interrupted; NULL where it did not and was not
SELECT run_id, stage, started_at, finished_at, status, rows_in, rows_out, bytes, error
FROM run_stages
ORDER BY run_id, started_at, stage
