-- Stages of one run, from the snapshot.
-- grain: one row per stage
-- key: stage
-- nullable: finished_at, rows_in, rows_out, bytes, error
SELECT stage, started_at, finished_at, status, rows_in, rows_out, bytes, error
FROM run_stages
WHERE run_id::VARCHAR = $run
ORDER BY started_at, stage
