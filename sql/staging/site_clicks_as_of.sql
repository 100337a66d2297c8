-- Clicks on offers in the catalog by UTC day and site, up to as-of, of the days in touched_click_counts. Counted from the
-- events, since the roll-up of clicks has no sites.
-- grain: one row per UTC day and site with such a click
-- key: day, site_key
-- fills: day_site_clicks
SELECT
  click.day,
  click.site_key,
  sum(click.clicks)::BIGINT AS clicks
FROM touched_click_counts AS click
JOIN offer_keys AS offer ON click_names_offer(click, offer)
GROUP BY ALL
