-- Figures of each site on one UTC day by itself, the day under way up to the snapshot's as-of, over the offers in the catalog.
-- Clicks, conversions and gross earnings add up over days and sites, to those of network_hourly. converted_clicks add up over
-- sites, not over days. A conversion counts for the site of its click.
-- grain: one row per UTC day and site with a click or a credited conversion
-- key: day, site_key
-- columns:
--   day: UTC day
--   site_key: The site as its clicks name it, whether or not sites.json has it
--   clicks: Clicks with clicked_at on the day
--   conversions: Conversions credited at the snapshot's as-of whose credit is on the day
--   converted_clicks: Distinct clicks among these conversions
--   gross_earnings: Sum of their gross payouts, USD
--   earnings_after_commission?: What is left of gross_earnings after the commissions of now, of sites and site_commissions, also of days before they changed; USD, rounded once, to 4 places; NULL where sites.json lacks the site
SELECT
  site_days.day,
  site_days.site_key,
  site_days.clicks,
  site_days.conversions,
  site_days.converted_clicks,
  site_days.earnings AS gross_earnings,
  round(
    site_days.earnings::DECIMAL(38, 6) * (1 - sites.commission)::DECIMAL(38, 6) + coalesce(excepted_earnings.difference, 0)::DECIMAL(38, 12),
    4
  )::DECIMAL(24, 4) AS earnings_after_commission
FROM site_days
LEFT JOIN snapshot.sites ON sites.site_key = site_days.site_key
LEFT JOIN excepted_earnings ON excepted_earnings.day = site_days.day AND excepted_earnings.site_key = site_days.site_key
ORDER BY site_days.day, site_days.site_key
