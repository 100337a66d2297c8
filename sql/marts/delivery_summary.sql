-- State of all postbacks, as the run that built the snapshot found them, for the service's metrics. Lag is the time from writing to the outbox to delivery, of what was
-- delivered within the 24 hours before the last delivery; none where a run wrote it as of a time that was yet to come.
-- grain: one row
-- key: none
-- columns:
--   pending: Postbacks that wait for an attempt, or are under way
--   delivered: Postbacks that the site has taken
--   dead: Postbacks that were given up, until somebody revives them
--   attempts: Attempts so far, those that retention.attempts keeps
--   failed_attempts: Those of them that failed
--   oldest_pending_at?: When the oldest pending one was written, UTC; NULL where none is pending
--   lag_seconds_p95?: 95th percentile of the lag, in seconds, to the millisecond; NULL where none was delivered
WITH written AS (
  SELECT
    count(*) FILTER (WHERE state IN ('pending', 'delivering')) AS pending,
    count(*) FILTER (WHERE state = 'delivered') AS delivered,
    count(*) FILTER (WHERE state = 'dead') AS dead,
    min(enqueued_at) FILTER (WHERE state IN ('pending', 'delivering')) AS oldest_pending_at,
    max(delivered_at) AS last_delivered_at
  FROM snapshot.postbacks
),
tried AS (
  SELECT count(*) AS attempts, count(*) FILTER (WHERE error IS NOT NULL) AS failed_attempts
  FROM snapshot.postback_attempts
),
recent AS (
  SELECT round(quantile_cont(greatest(date_diff('millisecond', enqueued_at, delivered_at), 0), 0.95)) / 1000 AS lag_seconds_p95
  FROM snapshot.postbacks
  WHERE delivered_at > (SELECT last_delivered_at FROM written) - INTERVAL 24 HOURS
)
SELECT
  written.pending,
  written.delivered,
  written.dead,
  tried.attempts,
  tried.failed_attempts,
  written.oldest_pending_at,
  recent.lag_seconds_p95
FROM written
CROSS JOIN tried
CROSS JOIN recent
