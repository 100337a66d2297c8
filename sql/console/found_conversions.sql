-- The conversion with an id.
-- grain: one row at most
-- key: conversion_id
-- nullable: none
SELECT conversion_id, click_id, status FROM conversions WHERE conversion_id = $id::VARCHAR ORDER BY conversion_id LIMIT 1
