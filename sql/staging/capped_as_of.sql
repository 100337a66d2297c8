-- Active offers that have reached a daily cap at $as_of: as many clicks with a conversion credited today, or as many clicks
-- of today, as the catalog's latest version allows; a cap of 0 is always reached. UTC days.
-- grain: one row per such offer
-- key: offer_id
SELECT latest.offer_id
FROM (
  SELECT offer_id, status, daily_cap, daily_click_cap
  FROM offer_versions
  QUALIFY row_number() OVER (PARTITION BY offer_id ORDER BY version DESC) = 1
) AS latest
LEFT JOIN offers_today AS today ON today.offer_id = latest.offer_id
WHERE latest.status = 'active'
  AND (coalesce(today.converted_clicks, 0) >= latest.daily_cap OR coalesce(today.clicks, 0) >= latest.daily_click_cap)
