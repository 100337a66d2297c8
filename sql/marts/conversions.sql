-- Conversions as they stand at the snapshot's as-of.
-- grain: one row per conversion with an event up to as-of
-- key: conversion_id
-- columns:
--   conversion_id: The advertiser's id of the conversion
--   click_id: The click that it names, ingested or not
--   status: credited, rejected or charged_back; pending while it is announced only, and counts nowhere; unattributed while its click, its offer or its milestone is unknown
--   offer_id?: Public id of the click's offer; NULL while unknown
--   source?: Catalog source of the offer; NULL while unknown
--   site_key?: Site of the click; NULL while the click is unknown
--   user_id?: Publisher's user of the click; NULL while the click is unknown
--   country?: ISO 3166-1 alpha-2, of the click; NULL where unknown
--   device?: android, ios or desktop, of the click; NULL where unknown
--   event_id?: The milestone reached, of a multireward offer; NULL where the event names none
--   payout?: Gross USD: the event's own, else the milestone's, else the offer's, by the catalog version valid when it was credited, without a credit at occurred_at; NULL where the event names none while its offer or milestone is unknown
--   credited_at?: When it was credited, UTC; NULL without a credit
--   reversed_at?: When it was first rejected or charged back, UTC, or 90 days after it was announced where nothing followed; NULL where it never was
--   reason?: Why it was charged back, else why it was rejected, as the log of conversions says; expired where nothing followed its announcement; NULL where the log says nothing or there was neither
--   clicked_at?: When its click was made, UTC; NULL while the click is unknown
--   occurred_at: When the event happened that decides day and payout: the credit, else the reject, else the chargeback, else the announcement; UTC
--   changed_at: When this row changed last, UTC: when the newest of its events, its click or its offer became known, by the later of as-of and wall clock of that run; the event's own time where it was stamped ahead. A rebuilt warehouse has all rows changed
SELECT
  conversion_id,
  click_id,
  status,
  offer_id,
  source,
  site_key,
  user_id,
  country,
  device,
  event_id,
  payout,
  credited_at,
  reversed_at,
  reason,
  clicked_at,
  occurred_at,
  changed_at
FROM day_conversions
ORDER BY click_id, occurred_at, conversion_id
