-- One offer's figures of its window by site, highest earnings first. All but epc and cvr add up to those of the offer.
-- grain: one row per site with a click on the offer, or a credited conversion of it, in the window
-- key: site_key
-- nullable: none
SELECT * EXCLUDE (offer_id)
FROM figures_by_site()
WHERE offer_id = $offer_id::BIGINT
ORDER BY earnings DESC, clicks DESC, site_key
