-- What a site's publishers see of an offer's EPC: epc × (1 − the site's commission), rounded half away from zero to 4 places; 0 without figures.
-- grain: one row per site and offer
-- unit: USD per click, after commission
-- served as: epc of the publisher API
SELECT
  sites.site_key,
  offers.offer_id,
  round(coalesce(figures.epc, 0) * (1 - sites.commission)::DECIMAL(7, 6), 4) AS published_epc
FROM offers
CROSS JOIN sites
LEFT JOIN offer_stats_2d AS figures ON figures.offer_id = offers.offer_id
WHERE offers.status = 'active'
