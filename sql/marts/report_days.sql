-- Which days report_daily has, and whether each agrees with what is known by now. `backfill reports` computes the others.
-- grain: one row per UTC day up to the snapshot's that has a report, or has traffic and should have one
-- key: report_date
-- columns:
--   report_date: UTC day
--   state: current, outdated (new data arrived after it was computed, or it was computed before its day was over), missing, or open for the day under way
--   as_of?: The moment its figures are true for, UTC; NULL where it is missing
--   offers?: Rows in report_daily; NULL where it is missing
--   run_id?: The run in runs that put it into force; NULL where it is missing
--   new_clicks: Whether clicks that arrived since change it
--   new_conversions: Whether conversion events that arrived since change it
--   new_attribution: Whether a click that arrived since explains a conversion that waited for it
--   new_offers: Whether offers that came into the catalog since explain its clicks or conversions
WITH today AS (
  SELECT value::TIMESTAMPTZ::DATE AS day
  FROM warehouse_facts
  WHERE fact = 'marts_as_of'
),
reports AS (
  SELECT day, as_of, rows, run_id
  FROM mart_files
  WHERE mart = 'report_daily'
),
marks AS (
  SELECT
    day,
    count(*) FILTER (WHERE cause = 'clicks') > 0 AS new_clicks,
    count(*) FILTER (WHERE cause = 'conversions') > 0 AS new_conversions,
    count(*) FILTER (WHERE cause = 'attribution') > 0 AS new_attribution,
    count(*) FILTER (WHERE cause = 'offers') > 0 AS new_offers
  FROM outdated_reports
  GROUP BY day
)
SELECT
  coalesce(reports.day, marks.day) AS report_date,
  CASE
    WHEN coalesce(reports.day, marks.day) = today.day THEN 'open'
    WHEN reports.day IS NULL THEN 'missing'
    WHEN marks.day IS NOT NULL THEN 'outdated'
    WHEN reports.as_of < (reports.day + 1)::TIMESTAMPTZ - INTERVAL 1 MICROSECOND THEN 'outdated'
    ELSE 'current'
  END AS state,
  reports.as_of,
  reports.rows AS offers,
  reports.run_id,
  coalesce(marks.new_clicks, false) AS new_clicks,
  coalesce(marks.new_conversions, false) AS new_conversions,
  coalesce(marks.new_attribution, false) AS new_attribution,
  coalesce(marks.new_offers, false) AS new_offers
FROM reports
FULL JOIN marks ON marks.day = reports.day
JOIN today ON coalesce(reports.day, marks.day) <= today.day
ORDER BY report_date
