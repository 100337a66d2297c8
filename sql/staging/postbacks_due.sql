-- Undecided conversion events that can be decided at $as_of: their click, offer, payout and site are known. A reject or
-- chargeback has the reward of its credit; without one that of its own amount, else the catalog's at its time. Rewards are
-- in the site's points, by the commission of the offer, else of its source, else of the site. further: what a site may ask for
-- beside the signed fields, a JSON object of texts without those that are unknown; its payout is in USD after commission, of a
-- reject or chargeback that of its credit. An announcement is sent where the site asks for it, and not any more when it has ended.
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
  site.has_address
    AND (
      priced.kind <> 'pending'
      OR site.has_pending AND ended.conversion_id IS NULL AND pending_until(priced.occurred_at) > $as_of
    ) AS is_sent,
  coalesce(of_offer.commission, of_source.commission, site.commission) AS offer_commission,
  coalesce(credited.reward, reward(priced.resolved_payout, offer_commission, site.reward_rate)) AS reward,
  json_merge_patch(
    '{}',
    json_object(
      'event_id', priced.event_id,
      'sub1', click.sub1,
      'sub2', click.sub2,
      'reason', priced.reason,
      'payout', coalesce(
        credited.further ->> 'payout',
        rtrim(rtrim(after_commission(priced.resolved_payout, offer_commission)::VARCHAR, '0'), '.')
      )
    )
  )::VARCHAR AS further
FROM priced_events AS priced
JOIN postbacks_undecided AS undecided
  ON undecided.conversion_id = priced.conversion_id
  AND undecided.kind = priced.kind
JOIN run_postback_sites AS site ON site.site_key = priced.site_key
JOIN conversion_clicks AS click ON click.click_id = priced.click_id
JOIN offers ON offers.offer_id = priced.offer_id
LEFT JOIN run_site_commissions AS of_offer
  ON of_offer.site_key = priced.site_key
  AND of_offer.offer_id = priced.offer_id
LEFT JOIN run_site_commissions AS of_source
  ON of_source.site_key = priced.site_key
  AND of_source.source = offers.source
LEFT JOIN (
  SELECT DISTINCT conversion_id
  FROM conversion_events
  WHERE kind <> 'pending' AND occurred_at <= $as_of AND conversion_id IN (SELECT conversion_id FROM conversion_scope)
) AS ended ON ended.conversion_id = priced.conversion_id
LEFT JOIN outbox AS credited ON credited.conversion_id = priced.conversion_id AND credited.kind = 'credit'
WHERE priced.offer_id IS NOT NULL AND priced.resolved_payout IS NOT NULL
