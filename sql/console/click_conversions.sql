-- Conversions of one click, in the order of their events.
-- grain: one row per conversion
-- key: conversion_id
-- nullable: offer_id, event_id, payout, credited_at, reversed_at, reason, clicked_at
SELECT conversion_id, status, offer_id, event_id, payout, occurred_at, credited_at, reversed_at, reason, clicked_at
FROM conversions
WHERE click_id = $click_id::VARCHAR
ORDER BY occurred_at, conversion_id
