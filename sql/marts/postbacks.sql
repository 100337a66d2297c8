-- Postbacks to publishers as the run that built the snapshot found them: what is to be sent, and how far delivery has come.
-- Their number: one for each credit, reject or chargeback of an attributed conversion whose site has a postback address, and
-- one for each announcement where the site asks for it.
-- grain: one row per postback, so per conversion and kind
-- key: webhook_id
-- columns:
--   webhook_id: Id that every attempt carries as webhook-id; follows from conversion and kind
--   conversion_id: The advertiser's id of the conversion
--   kind: credit, reject or chargeback; pending where it was announced
--   click_id: The click that the conversion came from; deliveries of one click keep the order of occurrence
--   site_key: Site of the click, which receives it
--   user_id: Publisher's user of the click
--   offer_id: Public id of the click's offer
--   reward: In the site's points: payout × (1 − commission) × reward rate of the time it was written, rounded once, half away from zero, to 4 places; not negative for any kind
--   occurred_at: When the event happened, UTC
--   enqueued_at: As-of of the run that wrote it, UTC
--   state: pending, delivering, delivered or dead
--   attempts: Attempts so far, those before a revival too
--   last_attempt_at?: When the last attempt began, wall clock, UTC; NULL before the first
--   last_status?: HTTP status of the last attempt; NULL where no status line came
--   last_error?: Why the last attempt failed, as a short code; NULL where it did not
--   delivered_at?: When it was delivered, wall clock, UTC; NULL while it is not
--   next_attempt_at?: When the next attempt is due, wall clock, UTC; NULL where none is
SELECT
  outbox.webhook_id,
  outbox.conversion_id,
  outbox.kind,
  outbox.click_id,
  outbox.site_key,
  outbox.user_id,
  outbox.offer_id,
  coalesce(delivery.reward, outbox.reward) AS reward,
  outbox.occurred_at,
  outbox.enqueued_at,
  coalesce(delivery.state, 'pending') AS state,
  coalesce(delivery.attempts, 0) AS attempts,
  delivery.last_attempt_at,
  delivery.last_status,
  delivery.last_error,
  delivery.delivered_at,
  -- The delivery store has those that it was handed; until then one is due since it was written, to the store's millisecond.
  CASE
    WHEN delivery.webhook_id IS NULL THEN date_trunc('milliseconds', outbox.enqueued_at)
    ELSE delivery.next_attempt_at
  END AS next_attempt_at
FROM outbox
LEFT JOIN delivery_states AS delivery ON delivery.webhook_id = outbox.webhook_id
WHERE outbox.enqueued_at >= $day_start AND outbox.enqueued_at < $day_end
ORDER BY outbox.click_id, outbox.number
