-- Runs of the pipelines that retention.runs keeps, this snapshot's own among them, which is still running as it is
-- written.
-- grain: one row per run
-- key: run_id
-- columns:
--   run_id: Number of the run
--   pipeline: Which pipeline, such as refresh
--   as_of: The moment its figures are true for, UTC
--   scheduled_at?: The moment of the schedule that it was started for, UTC; NULL where it was started by hand
--   started_at: When it began, wall clock, UTC
--   finished_at?: When it ended, wall clock, UTC; NULL while it runs, and where its process died
--   status: running, done, failed, or interrupted when its process died or was asked to end
--   snapshot_id?: The snapshot it published; NULL when it published none
--   error?: Why it failed or was interrupted; NULL where it did not and was not
SELECT run_id, pipeline, as_of, scheduled_at, started_at, finished_at, status, snapshot_id, error
FROM runs
ORDER BY run_id
