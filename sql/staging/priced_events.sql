-- Conversion events up to $as_of with their click, offer, site, user and gross payout in USD: attribution and pricing, for
-- figures and postbacks.
-- Click, milestone, payout and time are those of the conversion's credit; without a credit the event's own. The payout is
-- the given one, else the milestone's, else the offer's, by the catalog version of that time. Site and user are NULL until
-- the click is ingested, the offer until it is in the catalog, the payout while the offer or milestone is unknown. changed_at:
-- when the last of event, click and offer became known; of an event that was stamped ahead, its own time.
-- grain: one row per event of the conversions in conversion_scope
-- key: conversion_id, kind
WITH events AS (
  SELECT *
  FROM conversion_events
  WHERE occurred_at <= $as_of AND conversion_id IN (SELECT conversion_id FROM conversion_scope)
),
based_on_credit AS (
  SELECT
    event.conversion_id,
    event.kind,
    event.occurred_at,
    event.reason,
    event.known_at,
    coalesce(credit.click_id, event.click_id) AS click_id,
    CASE WHEN credit.kind IS NULL THEN event.event_id ELSE credit.event_id END AS event_id,
    CASE WHEN credit.kind IS NULL THEN event.payout ELSE credit.payout END AS own_payout,
    coalesce(credit.occurred_at, event.occurred_at) AS priced_at
  FROM events AS event
  LEFT JOIN events AS credit ON credit.conversion_id = event.conversion_id AND credit.kind = 'credit'
),
attributed AS (
  SELECT
    based_on_credit.*,
    click.site_key,
    click.user_id,
    click.clicked_at,
    click.country,
    click.device,
    offer.offer_id,
    seen.source,
    -- NULLs are left out.
    greatest(based_on_credit.known_at, based_on_credit.occurred_at, click.known_at, seen.first_seen_at) AS changed_at
  FROM based_on_credit
  LEFT JOIN conversion_clicks AS click ON click.click_id = based_on_credit.click_id
  LEFT JOIN offer_keys AS offer ON click_names_offer(click, offer)
  LEFT JOIN offers AS seen ON seen.offer_id = offer.offer_id
)
SELECT
  attributed.conversion_id,
  attributed.kind,
  attributed.occurred_at,
  attributed.click_id,
  attributed.event_id,
  attributed.site_key,
  attributed.user_id,
  attributed.clicked_at,
  attributed.country,
  attributed.device,
  attributed.offer_id,
  attributed.source,
  attributed.reason,
  attributed.changed_at,
  CASE
    WHEN attributed.own_payout IS NOT NULL THEN attributed.own_payout
    WHEN attributed.event_id IS NOT NULL THEN milestone.payout
    ELSE span.payout
  END AS resolved_payout
FROM attributed
LEFT JOIN offer_spans AS span
  ON span.offer_id = attributed.offer_id
  AND span.holds_from <= attributed.priced_at
  AND attributed.priced_at < span.holds_until
LEFT JOIN offer_version_events AS milestone
  ON milestone.offer_id = span.offer_id
  AND milestone.version = span.version
  AND milestone.event_id = attributed.event_id
