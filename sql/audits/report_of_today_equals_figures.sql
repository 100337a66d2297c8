-- The open day of report_daily says what offer_stats_2d says, in every figure.
-- grain: one row per offer, and side, with figures that the other side does not have
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
