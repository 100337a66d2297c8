-- Clicks and conversions of one offer's figures, newest first, with the figures that count each of them.
-- grain: one row per click, and one per conversion, of the offer in the figures' windows
-- key: what, click_id, conversion_id
-- nullable: conversion_id, status, payout
SELECT what, happened_at, click_id, conversion_id, site_key, status, payout, in_clicks, in_conversions, in_conversions_24h, in_conversions_prior_24h
FROM figures_explained($offer_id::BIGINT, newest := $newest::BIGINT)
ORDER BY happened_at DESC, click_id, conversion_id
