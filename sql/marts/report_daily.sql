-- The figures of offer_stats_2d for one day, as of its last microsecond, for today as of the run's as-of.
-- Its windows overlap: it is not to be summed over days.
-- grain: one row per UTC day and offer with a click or credited conversion in the day's window
-- key: report_date, offer_id
-- inputs: day_stats
-- columns:
--   report_date: UTC day
--   offer_id: Public id of the offer
--   as_of: The moment the figures are true for: the day's last microsecond, for today the snapshot's as-of
--   clicks: Clicks of the day and the day before
--   conversions: Credited conversions whose credit lies on the day or the day before
--   converted_clicks: Distinct clicks among these conversions
--   earnings: Sum of their gross payouts, USD
--   epc: Gross USD per click, 6 places; 0 without clicks
--   cvr: converted_clicks / clicks as a ratio, 6 places; 0 without clicks
--   conversions_24h: Credits in the 24 hours up to as_of
--   conversions_prior_24h: Credits in the 24 hours before those
--   trend: up, down or stable, by comparing the two with a tolerance of a tenth
--   rank?: Position among the active offers of that moment; 1 is hottest
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
