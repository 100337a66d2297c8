-- Number of daily reports by state, of all days.
-- grain: one row per state
-- key: state
-- nullable: none
SELECT state, count(*) AS days, min(report_date) AS first_day, max(report_date) AS last_day
FROM report_days
GROUP BY state
ORDER BY state
