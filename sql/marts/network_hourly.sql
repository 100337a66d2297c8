-- Clicks, conversions and earnings of the whole network by hour, up to the snapshot's as-of: offer_hourly summed over offers.
-- So clicks on offers that no catalog has had yet are left out. Every column adds up over hours.
-- grain: one row per UTC hour with a click or a credited conversion
-- key: hour
-- inputs: day_clicks, day_conversions
-- columns:
--   hour: Begin of the UTC hour
--   clicks: Clicks with clicked_at in the hour, on offers in the catalog
--   conversions: Conversions credited at the snapshot's as-of whose credit lies in the hour
--   earnings: Sum of their gross payouts, USD
SELECT
  hour,
  sum(clicks)::BIGINT AS clicks,
  sum(conversions)::BIGINT AS conversions,
  sum(earnings)::DECIMAL(24, 6) AS earnings
FROM (
  SELECT hour, sum(clicks) AS clicks, 0 AS conversions, 0::DECIMAL(15, 6) AS earnings
  FROM day_clicks
  GROUP BY hour
  UNION ALL
  SELECT date_trunc('hour', credited_at) AS hour, 0 AS clicks, count(*) AS conversions, sum(payout) AS earnings
  FROM day_conversions
  WHERE status = 'credited'
  GROUP BY ALL
)
GROUP BY hour
ORDER BY hour
