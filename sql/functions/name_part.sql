-- The source or external id by which a click names its offer; empty where it gives the offer's id. With
-- coalesce(offer_id, 0) the two parts are the key of click_hourly and of offer_keys.
-- parameters: offer_id, part
CASE WHEN offer_id IS NULL THEN part ELSE '' END
