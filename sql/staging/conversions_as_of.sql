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
    CASE
      WHEN count(*) FILTER (WHERE kind = 'credit') > 0 THEN 'credit'
      WHEN count(*) FILTER (WHERE kind = 'reject') > 0 THEN 'reject'
      WHEN count(*) FILTER (WHERE kind = 'chargeback') > 0 THEN 'chargeback'
      ELSE 'pending'
    END AS deciding_kind
  FROM priced_events
  GROUP BY conversion_id
),
decided AS (
  SELECT
    moments.* REPLACE (
      coalesce(moments.reversed_at, ends.expired_at) AS reversed_at,
      CASE WHEN ends.expired_at IS NULL THEN moments.reason ELSE 'expired' END AS reason,
      -- NULLs are left out.
      greatest(moments.changed_at, ends.expired_at) AS changed_at
    )
  FROM moments
  LEFT JOIN (
    SELECT conversion_id, pending_until(occurred_at) AS expired_at
    FROM priced_events
    WHERE kind = 'pending' AND pending_until(occurred_at) <= $as_of
  ) AS ends ON ends.conversion_id = moments.conversion_id AND moments.deciding_kind = 'pending'
)
SELECT
  deciding.conversion_id,
  deciding.click_id,
  CASE
    WHEN deciding.offer_id IS NULL OR deciding.resolved_payout IS NULL THEN 'unattributed'
    WHEN moments.chargebacks > 0 THEN 'charged_back'
    WHEN moments.reversed_at IS NOT NULL THEN 'rejected'
    WHEN moments.deciding_kind = 'pending' THEN 'pending'
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
  moments.credited_at,
  moments.reversed_at,
  moments.reason,
  deciding.clicked_at,
  deciding.occurred_at,
  moments.changed_at
FROM priced_events AS deciding
JOIN decided AS moments ON moments.conversion_id = deciding.conversion_id AND moments.deciding_kind = deciding.kind
