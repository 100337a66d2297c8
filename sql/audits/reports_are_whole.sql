-- No figure of a report that this snapshot is the first to publish is missing or negative, and parts do not exceed their wholes.
-- grain: one row per day and offer with a bad figure, or that is there more than once
-- inputs: report_daily of the snapshot, audited_reports
SELECT report_date, offer_id, count(*) AS rows
FROM snapshot.report_daily
WHERE report_date IN (SELECT day FROM audited_reports)
GROUP BY report_date, offer_id
HAVING count(*) > 1
  OR count(*) FILTER (
    WHERE clicks IS NULL OR clicks < 0
      OR conversions IS NULL OR conversions < 0
      OR converted_clicks IS NULL OR converted_clicks < 0 OR converted_clicks > conversions
      OR earnings IS NULL OR earnings < 0
      OR epc IS NULL OR epc < 0
      OR cvr IS NULL OR cvr < 0
      OR conversions_24h IS NULL OR conversions_24h < 0
      OR conversions_prior_24h IS NULL OR conversions_prior_24h < 0
      OR trend IS NULL
      OR clicks + conversions + conversions_24h + conversions_prior_24h = 0
  ) > 0
