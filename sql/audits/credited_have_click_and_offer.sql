-- Every credited conversion has its click, its offer, the moment of its credit, a site, a user, and a payout that is not
-- negative.
-- grain: one row per credited conversion that lacks one
SELECT conversions.conversion_id, conversions.click_id, conversions.offer_id, conversions.payout
FROM audited_conversions AS conversions
LEFT JOIN conversion_clicks AS click ON click.click_id = conversions.click_id
LEFT JOIN offers ON offers.offer_id = conversions.offer_id
WHERE conversions.status = 'credited'
  AND (click.click_id IS NULL OR offers.offer_id IS NULL OR conversions.payout IS NULL OR conversions.payout < 0
    OR conversions.credited_at IS NULL OR conversions.site_key IS NULL OR conversions.user_id IS NULL)
