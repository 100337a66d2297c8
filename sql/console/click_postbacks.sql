-- Postbacks for one click's conversions, in the order of sending.
-- grain: one row per postback
-- key: webhook_id
-- nullable: last_attempt_at, last_status, last_error, delivered_at, next_attempt_at
SELECT
  webhook_id,
  conversion_id,
  kind,
  site_key,
  reward,
  occurred_at,
  enqueued_at,
  state,
  attempts,
  last_attempt_at,
  last_status,
  last_error,
  delivered_at,
  next_attempt_at
FROM postbacks
WHERE click_id = $click_id::VARCHAR
ORDER BY occurred_at, CASE kind WHEN 'pending' THEN 0 WHEN 'credit' THEN 1 WHEN 'reject' THEN 2 ELSE 3 END, conversion_id
