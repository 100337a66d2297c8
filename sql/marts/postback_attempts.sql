-- Attempts at delivering postbacks, failed ones too, as the run that built the snapshot found them; those that
-- retention.attempts keeps.
-- grain: one row per attempt
-- key: webhook_id, attempt
-- columns:
--   webhook_id: The postback, as in postbacks
--   attempt: Number of the attempt at this postback, from 1
--   site_key: The site that it went to
--   started_at: When it began, wall clock, UTC
--   duration_ms: How long it took, in milliseconds
--   status?: HTTP status; NULL where no status line came
--   error?: Why it failed, as a short code; NULL where it did not
--   host: Host and port that it went to; never the whole address, which may hold credentials
SELECT
  attempt.webhook_id,
  attempt.attempt,
  outbox.site_key,
  attempt.started_at,
  attempt.duration_ms,
  attempt.status,
  attempt.error,
  attempt.host
FROM delivery_attempts AS attempt
JOIN outbox ON outbox.webhook_id = attempt.webhook_id
WHERE attempt.started_at >= $day_start AND attempt.started_at < $day_end
ORDER BY attempt.started_at, attempt.webhook_id, attempt.attempt
