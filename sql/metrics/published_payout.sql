-- What a site's publisher sees of an offer's payout: payout × (1 − commission), rounded half away from zero to 4 places.
-- The commission is the one for the offer, else for its source, else the site's own.
-- grain: one row per site and active offer, also one that the site may not have
-- key: site_key, offer_id
-- unit: USD after commission
-- served as: payout of the publisher API
SELECT
  sites.site_key,
  offers.offer_id,
  after_commission(offers.payout, coalesce(of_offer.commission, of_source.commission, sites.commission)) AS published_payout
FROM offers
CROSS JOIN sites
LEFT JOIN site_commissions AS of_offer
  ON of_offer.site_key = sites.site_key
  AND of_offer.offer_id = offers.offer_id
LEFT JOIN site_commissions AS of_source
  ON of_source.site_key = sites.site_key
  AND of_source.source = offers.source
WHERE offers.status = 'active'
