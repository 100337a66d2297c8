-- The newest clicks of a site, a user or all, up to the as-of; without their IP addresses and user agents.
-- grain: one row per click
-- key: click_id
-- nullable: offer_id, title, country, device
SELECT
  clicks.click_id,
  clicks.clicked_at,
  clicks.site_key,
  clicks.user_id,
  clicks.offer_id,
  offers.title,
  clicks.country,
  clicks.device
FROM clicks
LEFT JOIN offers ON offers.offer_id = clicks.offer_id
WHERE clicks.clicked_at BETWEEN $since::TIMESTAMPTZ AND $as_of
  AND ($user::VARCHAR = '' OR clicks.user_id = $user::VARCHAR)
  AND ($site::VARCHAR = '' OR clicks.site_key = $site::VARCHAR)
ORDER BY clicks.clicked_at DESC, clicks.click_id
LIMIT 100
