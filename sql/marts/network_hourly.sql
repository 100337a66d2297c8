-- Clicks, conversions and earnings of the whole network by hour, up to the snapshot's as-of: offer_hourly summed over offers.
-- So clicks on offers that no catalog has had yet are left out. Every column adds up over hours.
-- grain: one row per UTC hour with a click or a credited conversion
-- key: hour
-- columns:
--   hour: Begin of the UTC hour
--   clicks: Clicks with clicked_at in the hour, on offers in the catalog
--   conversions: Conversions credited at the snapshot's as-of whose credit is in the hour
--   earnings: Sum of their gross payouts, USD
SELECT
  hour,
  coalesce(sum(clicks), 0)::BIGINT AS clicks,
  coalesce(sum(conversions), 0)::BIGINT AS conversions,
  coalesce(sum(earnings), 0)::DECIMAL(24, 6) AS earnings
FROM (
  SELECT hour, clicks
  FROM day_clicks
  UNION ALL BY NAME
  SELECT date_trunc('hour', credited_at) AS hour, 1 AS conversions, payout AS earnings
  FROM day_conversions
  WHERE status = 'credited'
)
GROUP BY hour
ORDER BY hour
