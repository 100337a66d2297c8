-- The open day of report_daily says what offer_stats_2d says.
-- grain: one row per offer that differs
-- inputs: report_daily, offer_stats_2d of the snapshot
SELECT coalesce(report.offer_id, figures.offer_id) AS offer_id, report.clicks AS report_clicks, figures.clicks AS figure_clicks
FROM (SELECT * FROM snapshot.report_daily WHERE as_of = (SELECT max(as_of) FROM snapshot.offer_stats_2d)) AS report
FULL JOIN snapshot.offer_stats_2d AS figures ON figures.offer_id = report.offer_id
WHERE row(report.clicks, report.conversions, report.earnings, report.rank)
  IS DISTINCT FROM row(figures.clicks, figures.conversions, figures.earnings, figures.rank)
