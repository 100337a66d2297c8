-- States of the daily reports of a range of days, from its first day on and before its last.
-- grain: one row per day that has a report, or has traffic and should have one
-- key: report_date
-- nullable: as_of, offers, run_id
SELECT
  report_date,
  state,
  as_of,
  offers,
  run_id,
  concat_ws(
    ', ',
    CASE WHEN new_clicks THEN 'late clicks' END,
    CASE WHEN new_conversions THEN 'late conversions' END,
    CASE WHEN new_attribution THEN 'clicks of waiting conversions' END,
    CASE WHEN new_offers THEN 'offers that came later' END
  ) AS causes
FROM report_days
WHERE report_date >= $from::DATE AND report_date <= $to::DATE
ORDER BY report_date DESC
