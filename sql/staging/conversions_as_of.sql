-- Conversions as of $as_of: merged from their events, with click, offer, payout and status. A conversion is unattributed
-- until its click is ingested and its offer known, and while its milestone is unknown. The credit decides day and payout;
-- without one the reject, else the chargeback, else the announcement, which is rejected as expired when nothing follows it.
-- grain: one row per conversion of conversion_scope with an event up to $as_of
-- key: conversion_id
-- fills: window_conversions, touched_conversions, day_conversions
WITH moments AS (
  SELECT
    conversion_id,
    min(occurred_at) FILTER (WHERE kind = 'credit') AS credited_at,
    min(occurred_at) FILTER (WHERE kind IN ('reject', 'chargeback')) AS reversed_at,
    count(*) FILTER (WHERE kind = 'chargeback') AS chargebacks,
    coalesce(any_value(reason) FILTER (WHERE kind = 'chargeback'), any_value(reason) FILTER (WHERE kind = 'reject')) AS reason,
    max(changed_at) AS changed_at,
    min(pending_until(occurred_at)) FILTER (WHERE kind = 'pending') AS pending_ends,
    CASE
      WHEN count(*) FILTER (WHERE kind = 'credit') > 0 THEN 'credit'
      WHEN count(*) FILTER (WHERE kind = 'reject') > 0 THEN 'reject'
      WHEN count(*) FILTER (WHERE kind = 'chargeback') > 0 THEN 'chargeback'
      ELSE 'pending'
    END AS deciding_kind
  FROM priced_events
  GROUP BY conversion_id
),
ends AS (
  SELECT *, CASE WHEN deciding_kind = 'pending' AND pending_ends <= $as_of THEN pending_ends END AS expired_at
  FROM moments
)
SELECT
  deciding.conversion_id,
  deciding.click_id,
  CASE
    WHEN deciding.offer_id IS NULL OR deciding.resolved_payout IS NULL THEN 'unattributed'
    WHEN ends.chargebacks > 0 THEN 'charged_back'
    WHEN ends.reversed_at IS NOT NULL OR ends.expired_at IS NOT NULL THEN 'rejected'
    WHEN ends.deciding_kind = 'pending' THEN 'pending'
    ELSE 'credited'
  END AS status,
  deciding.offer_id,
  deciding.source,
  deciding.site_key,
  deciding.user_id,
  deciding.country,
  deciding.device,
  deciding.event_id,
  deciding.resolved_payout AS payout,
  ends.credited_at,
  coalesce(ends.reversed_at, ends.expired_at) AS reversed_at,
  CASE WHEN ends.expired_at IS NULL THEN ends.reason ELSE 'expired' END AS reason,
  deciding.clicked_at,
  deciding.occurred_at,
  -- NULLs are left out.
  greatest(ends.changed_at, ends.expired_at) AS changed_at
FROM priced_events AS deciding
JOIN ends ON ends.conversion_id = deciding.conversion_id AND ends.deciding_kind = deciding.kind
