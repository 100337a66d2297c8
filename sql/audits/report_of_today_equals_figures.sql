-- The open day of report_daily has the figures of offer_stats_2d.
-- grain: one row per offer and table with figures that the other table lacks
WITH today AS (
  SELECT * EXCLUDE (report_date)
  FROM snapshot.report_daily
  WHERE as_of = (SELECT max(as_of) FROM snapshot.offer_stats_2d)
)
SELECT 'report_daily' AS only_in, *
FROM (FROM today EXCEPT FROM snapshot.offer_stats_2d)
UNION ALL
SELECT 'offer_stats_2d', *
FROM (FROM snapshot.offer_stats_2d EXCEPT FROM today)
