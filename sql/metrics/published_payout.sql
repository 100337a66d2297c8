-- What a site's publisher sees of an offer's payout: payout × (1 − the site's commission), rounded half away from zero to 4 places.
-- grain: one row per site and active offer
-- key: site_key, offer_id
-- unit: USD after commission
-- served as: payout of the publisher API
SELECT
  sites.site_key,
  offers.offer_id,
  after_commission(offers.payout, sites.commission) AS published_payout
FROM offers
CROSS JOIN sites
WHERE offers.status = 'active'
