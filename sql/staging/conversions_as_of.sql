-- Conversions as they stand at $as_of: merged from their events, with click, offer, payout and status.
-- A conversion is unattributed until its click is ingested and its offer known, and where its milestone is unknown.
-- The event that decides day and payout is the credit; without one the reject, else the chargeback.
-- grain: one row per conversion of conversion_scope with an event up to $as_of
-- inputs: conversion_events, conversion_scope, conversion_clicks, offers, offer_spans, offer_version_events
-- fills: window_conversions, touched_conversions, day_conversions
WITH events AS (
  SELECT *
  FROM conversion_events
  WHERE occurred_at <= $as_of AND conversion_id IN (SELECT conversion_id FROM conversion_scope)
),
moments AS (
  SELECT
    conversion_id,
    min(occurred_at) FILTER (WHERE kind = 'credit') AS credited_at,
    min(occurred_at) FILTER (WHERE kind <> 'credit') AS reversed_at,
    count(*) FILTER (WHERE kind = 'chargeback') AS chargebacks,
    CASE
      WHEN count(*) FILTER (WHERE kind = 'credit') > 0 THEN 'credit'
      WHEN count(*) FILTER (WHERE kind = 'reject') > 0 THEN 'reject'
      ELSE 'chargeback'
    END AS deciding_kind
  FROM events
  GROUP BY conversion_id
),
deciding AS (
  SELECT events.*
  FROM events
  JOIN moments ON moments.conversion_id = events.conversion_id AND moments.deciding_kind = events.kind
),
attributed AS (
  SELECT
    deciding.*,
    click.site_key,
    click.user_id,
    click.clicked_at,
    coalesce(by_id.offer_id, by_name.offer_id) AS offer_id
  FROM deciding
  LEFT JOIN conversion_clicks AS click ON click.click_id = deciding.click_id
  LEFT JOIN offers AS by_id ON by_id.offer_id = click.offer_id
  -- Equal keys only, so that the join stays one by hash: a click that gives an id is not looked up by name.
  LEFT JOIN offers AS by_name
    ON by_name.source = CASE WHEN click.offer_id IS NULL THEN click.source END
    AND by_name.external_id = click.external_id
),
priced AS (
  SELECT
    attributed.*,
    CASE
      WHEN attributed.payout IS NOT NULL THEN attributed.payout
      WHEN attributed.event_id IS NOT NULL THEN milestone.payout
      ELSE span.payout
    END AS worth
  FROM attributed
  LEFT JOIN offer_spans AS span
    ON span.offer_id = attributed.offer_id
    AND span.holds_from <= attributed.occurred_at
    AND attributed.occurred_at < span.holds_until
  LEFT JOIN offer_version_events AS milestone
    ON milestone.offer_id = span.offer_id
    AND milestone.version = span.version
    AND milestone.event_id = attributed.event_id
)
SELECT
  priced.conversion_id,
  priced.click_id,
  CASE
    WHEN priced.offer_id IS NULL OR priced.worth IS NULL THEN 'unattributed'
    WHEN moments.chargebacks > 0 THEN 'charged_back'
    WHEN moments.reversed_at IS NOT NULL THEN 'rejected'
    ELSE 'credited'
  END AS status,
  priced.offer_id,
  priced.site_key,
  priced.user_id,
  priced.event_id,
  priced.worth AS payout,
  moments.credited_at,
  moments.reversed_at,
  priced.clicked_at,
  priced.occurred_at
FROM priced
JOIN moments ON moments.conversion_id = priced.conversion_id
