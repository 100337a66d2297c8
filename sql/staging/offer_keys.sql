-- The ways in which a click may name an offer of the catalog: by its id, or by the source and the source's own id of it.
-- Joined on all three columns by equality, so that the join is one by hash.
-- grain: one row per way of naming an offer
-- key: named_id, source, external_id
SELECT offer_id AS named_id, '' AS source, '' AS external_id, offer_id
FROM offers
UNION ALL
SELECT 0 AS named_id, source, external_id, offer_id
FROM offers
