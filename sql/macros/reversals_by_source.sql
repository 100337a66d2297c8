-- What networks took back, by source and site: rejects and chargebacks beside what stayed credited, on the day of the credit,
-- else of the reversal; an announcement that expired is rejected on its own day. Over sources and days conversions and
-- earnings add up to those of site_daily.
-- grain: one row per UTC day, source and site with a conversion that is credited, rejected or charged back, of the last days (30, or as many as are named: days := 7) up to as-of
-- columns:
--   day: UTC day of the credit, else of the reversal, or of the announcement that expired
--   source: Catalog source of the conversion's offer
--   site_key: Publisher site of the click
--   conversions: Conversions credited at as-of
--   earnings: Sum of their gross payouts, USD
--   rejected: Conversions that were rejected, and not charged back
--   rejected_payout: Sum of their gross payouts, USD
--   charged_back: Conversions that were charged back
--   charged_back_payout: Sum of their gross payouts, USD
--   chargeback_rate: charged_back / (conversions + charged_back) as a ratio, rounded half away from zero to 6 places; 0 without either
SELECT
  day,
  source,
  site_key,
  count(*) FILTER (status = 'credited') AS conversions,
  coalesce(sum(payout) FILTER (status = 'credited'), 0)::DECIMAL(24, 6) AS earnings,
  count(*) FILTER (status = 'rejected') AS rejected,
  coalesce(sum(payout) FILTER (status = 'rejected'), 0)::DECIMAL(24, 6) AS rejected_payout,
  count(*) FILTER (status = 'charged_back') AS charged_back,
  coalesce(sum(payout) FILTER (status = 'charged_back'), 0)::DECIMAL(24, 6) AS charged_back_payout,
  rounded_quotient(
    count(*) FILTER (status = 'charged_back')::HUGEINT * 1000000,
    count(*) FILTER (status IN ('credited', 'charged_back'))
  ) AS chargeback_rate
FROM dated_conversions
WHERE status IN ('credited', 'rejected', 'charged_back')
  AND day > utc_day($as_of) - days::INTEGER
GROUP BY ALL
ORDER BY day, source, site_key
