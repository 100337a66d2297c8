-- The figures of offer_stats_2d for one day, as of its last microsecond, for today as of the run's as-of.
-- Its windows overlap: it is not to be summed over days.
-- grain: one row per UTC day and offer with a click or credited conversion in the day's window, or a credited conversion in the 48 hours up to as_of
-- key: report_date, offer_id
-- columns:
--   report_date: UTC day
--   offer_id: Public id of the offer
--   as_of: The moment the figures are true for, UTC: the day's last microsecond, for today the snapshot's as-of
--   clicks: Clicks of the day and the day before
--   conversions: Credited conversions whose credit is on the day or the day before
--   converted_clicks: Distinct clicks among these conversions
--   earnings: Sum of their gross payouts, USD
--   epc: Gross USD per click: earnings / clicks, rounded half away from zero to 6 places; 0 without clicks
--   cvr: converted_clicks / clicks as a ratio, rounded half away from zero to 6 places; 0 without clicks; may exceed 1
--   conversions_24h: Credits in the 24 hours up to as_of
--   conversions_prior_24h: Credits in the 24 hours before those
--   trend: up, down or stable, by comparing the two with a tolerance of a tenth
--   rank?: Among the offers active at as_of with a conversion in the 48 hours up to it: by those, then their earnings, then offer_id; 1 is hottest, NULL outside
SELECT
  $report_date::DATE AS report_date,
  offer_id,
  as_of,
  clicks,
  conversions,
  converted_clicks,
  earnings,
  epc,
  cvr,
  conversions_24h,
  conversions_prior_24h,
  trend,
  rank
FROM day_stats
ORDER BY offer_id
