-- What a site's publisher sees of an offer's EPC: epc × (1 − the site's commission), rounded half away from zero to 4 places; 0 without figures.
-- grain: one row per site and active offer
-- key: site_key, offer_id
-- unit: USD per click, after commission
-- served as: epc of the publisher API
SELECT
  sites.site_key,
  offers.offer_id,
  after_commission(coalesce(figures.epc, 0), sites.commission) AS published_epc
FROM offers
CROSS JOIN sites
LEFT JOIN offer_stats_2d AS figures ON figures.offer_id = offers.offer_id
WHERE offers.status = 'active'
