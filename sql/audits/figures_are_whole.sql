-- No figure is missing or negative, parts do not exceed their wholes, and every offer with figures is in the catalog: in
-- offer_stats_2d, and in the reports that this snapshot is the first to publish.
-- grain: one row per offer with a bad figure, in reports by day
SELECT figures.*
FROM (
  FROM snapshot.offer_stats_2d
  UNION ALL BY NAME
  FROM audited_report_daily
) AS figures
LEFT JOIN snapshot.offers ON offers.offer_id = figures.offer_id
WHERE offers.offer_id IS NULL
  OR clicks IS NULL OR clicks < 0
  OR conversions IS NULL OR conversions < 0
  OR converted_clicks IS NULL OR converted_clicks < 0 OR converted_clicks > conversions
  OR earnings IS NULL OR earnings < 0
  OR epc IS NULL OR epc < 0
  OR cvr IS NULL OR cvr < 0
  OR conversions_24h IS NULL OR conversions_24h < 0
  OR conversions_prior_24h IS NULL OR conversions_prior_24h < 0
  OR trend IS NULL
  OR clicks + conversions + conversions_24h + conversions_prior_24h = 0
