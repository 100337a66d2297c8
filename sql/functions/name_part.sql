-- The source, or the external id, that a click names its offer by; empty where it gives the offer's id, whatever else it
-- says. Together with coalesce(offer_id, 0) the two parts are the key of click_hourly and of offer_keys.
-- parameters: offer_id, part
CASE WHEN offer_id IS NULL THEN part ELSE '' END
