-- Clicks, conversions and earnings by hour, of the offers in the catalog, up to the snapshot's as-of. Conversions count in the hour of their credit.
-- grain: one row per offer and UTC hour with a click or a credited conversion
-- key: offer_id, hour
-- columns:
--   offer_id: Public id of the offer
--   hour: Begin of the UTC hour
--   clicks: Clicks with clicked_at in the hour
--   conversions: Conversions credited at the snapshot's as-of whose credit is in the hour
--   earnings: Sum of their gross payouts, USD
SELECT
  offer_id,
  hour,
  coalesce(sum(clicks), 0)::BIGINT AS clicks,
  coalesce(sum(conversions), 0)::BIGINT AS conversions,
  coalesce(sum(earnings), 0)::DECIMAL(24, 6) AS earnings
FROM (
  SELECT offer_id, hour, clicks
  FROM day_clicks
  UNION ALL BY NAME
  SELECT offer_id, date_trunc('hour', credited_at) AS hour, 1 AS conversions, payout AS earnings
  FROM day_conversions
  WHERE status = 'credited'
)
GROUP BY ALL
ORDER BY hour, offer_id
