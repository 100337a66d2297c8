-- What a site's publishers see of an offer's payout: payout × (1 − the site's commission), rounded half away from zero to 4 places.
-- grain: one row per site and offer
-- unit: USD after commission
-- served as: payout of the publisher API
SELECT
  sites.site_key,
  offers.offer_id,
  round(offers.payout * (1 - sites.commission)::DECIMAL(7, 6), 4) AS published_payout
FROM offers
CROSS JOIN sites
WHERE offers.status = 'active'
