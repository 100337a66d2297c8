-- Undecided conversion events that can be decided at $as_of: their click, offer, payout and site are known. A reject or
-- chargeback has the reward of its credit; without one that of its own amount, else the catalog's at its time. Rewards are
-- in the site's points, by the commission of the offer, else of its source, else of the site.
-- grain: one row per event of postbacks_undecided that is decided
-- key: conversion_id, kind
-- fills: decided_postbacks
SELECT
  priced.conversion_id,
  priced.kind,
  priced.click_id,
  priced.site_key,
  priced.user_id,
  priced.offer_id,
  priced.occurred_at,
  site.has_address,
  coalesce(credited.reward, reward(priced.resolved_payout, coalesce(of_offer.commission, of_source.commission, site.commission), site.reward_rate)) AS reward
FROM priced_events AS priced
JOIN postbacks_undecided AS undecided
  ON undecided.conversion_id = priced.conversion_id
  AND undecided.kind = priced.kind
JOIN run_postback_sites AS site ON site.site_key = priced.site_key
JOIN offers ON offers.offer_id = priced.offer_id
LEFT JOIN run_site_commissions AS of_offer
  ON of_offer.site_key = priced.site_key
  AND of_offer.offer_id = priced.offer_id
LEFT JOIN run_site_commissions AS of_source
  ON of_source.site_key = priced.site_key
  AND of_source.source = offers.source
LEFT JOIN outbox AS credited ON credited.conversion_id = priced.conversion_id AND credited.kind = 'credit'
WHERE priced.offer_id IS NOT NULL AND priced.resolved_payout IS NOT NULL
