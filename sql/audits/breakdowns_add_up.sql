-- On the UTC days that runs changed since the last snapshot, reversals_by_source adds up to site_daily, and figures_by_country to
-- offer_daily on the newest two that are over, of these days and of the last snapshot's: as these functions of the snapshot
-- answer. Clicks come to figures_by_country from the events of the files that it lists, to offer_daily from the roll-up.
-- figures_by_click_day is made of offer_daily and conversions alone: compared with them it could only agree. figures_by_site
-- lists the same files in the same way, and would read a day that no run changed.
-- grain: one row per function, day and offer or site with other sums than the table
WITH broken_down AS (
  SELECT 'figures_by_country' AS name, day, offer_id::VARCHAR AS part, clicks, conversions, converted_clicks, earnings
  FROM audited_figures_by_country
  UNION ALL
  SELECT 'reversals_by_source', day, site_key, 0, conversions, 0, earnings
  FROM audited_reversals_by_source
),
whole AS (
  SELECT 'figures_by_country' AS name, day, offer_id::VARCHAR AS part, clicks, conversions, converted_clicks, earnings
  FROM audited_offer_daily
  WHERE day IN (SELECT day FROM audited_ended_days)
  UNION ALL
  SELECT 'reversals_by_source', day, site_key, 0, conversions, 0, gross_earnings
  FROM snapshot.site_daily
  WHERE day IN (SELECT day FROM audited_days)
)
SELECT
  name,
  day,
  part,
  sum(clicks * sign) AS clicks_too_many,
  sum(conversions * sign) AS conversions_too_many,
  sum(converted_clicks * sign) AS converted_clicks_too_many,
  sum(earnings * sign) AS earnings_too_many
FROM (
  SELECT *, 1 AS sign
  FROM broken_down
  UNION ALL
  SELECT *, -1 AS sign
  FROM whole
)
GROUP BY name, day, part
HAVING clicks_too_many <> 0 OR conversions_too_many <> 0 OR converted_clicks_too_many <> 0 OR earnings_too_many <> 0
