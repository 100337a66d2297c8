-- The two names that a click may give of an offer in the catalog: its id, or its source and external id. Clicks join it by
-- click_names_offer.
-- grain: one row per way of naming an offer
-- key: named_id, source, external_id
SELECT offer_id AS named_id, '' AS source, '' AS external_id, offer_id
FROM offers
UNION ALL
SELECT 0 AS named_id, source, external_id, offer_id
FROM offers
