-- One site's offers of the window of the figures, highest earnings first.
-- grain: one row per offer in the catalog with a click or a credited conversion of the site in the window
-- key: offer_id
-- nullable: none
SELECT
  offers.offer_id,
  offers.title,
  offers.status,
  figures.clicks,
  figures.conversions,
  figures.earnings,
  figures.epc,
  figures.cvr
FROM figures_by_site() AS figures
JOIN offers ON offers.offer_id = figures.offer_id
WHERE figures.site_key = $site_key::VARCHAR
ORDER BY figures.earnings DESC, figures.clicks DESC, offers.offer_id
