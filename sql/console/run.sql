-- One run, from the snapshot.
-- grain: one row per run
-- key: run_id
-- nullable: scheduled_at, finished_at, snapshot_id, error
SELECT run_id, pipeline, as_of, scheduled_at, started_at, finished_at, status, snapshot_id, error
FROM runs
WHERE run_id::VARCHAR = $run
ORDER BY run_id
