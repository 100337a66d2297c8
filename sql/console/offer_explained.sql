-- The clicks and conversions behind one offer's figures, the newest first, and in which of them each counts.
-- grain: one row per click, and one per conversion, of the offer in the figures' windows
-- key: what, click_id, conversion_id
-- inputs: none
SELECT *
FROM figures_explained($offer_id::BIGINT)
ORDER BY happened_at DESC, click_id, conversion_id
