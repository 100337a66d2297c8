-- On the UTC days that runs changed since the last snapshot, network_hourly, offer_daily, site_daily and the credited
-- conversions have the sums of offer_hourly. Clicks come to offer_hourly from the roll-up and to site_daily from the events,
-- so neither misses one. `doctor --deep` compares all days.
-- grain: one row per table and UTC day with other sums than offer_hourly
WITH by_hour AS (
  SELECT hour::DATE AS day, sum(clicks) AS clicks, sum(conversions) AS conversions, sum(earnings) AS earnings
  FROM audited_offer_hourly
  GROUP BY ALL
),
counted AS (
  SELECT 'network_hourly' AS table_name, hour::DATE AS day, clicks, conversions, earnings
  FROM snapshot.network_hourly
  UNION ALL
  SELECT 'offer_daily', day, clicks, conversions, earnings
  FROM audited_offer_daily
  UNION ALL
  SELECT 'site_daily', day, clicks, conversions, gross_earnings
  FROM snapshot.site_daily
  UNION ALL
  SELECT 'conversions', credited_at::DATE, 0, 1, payout
  FROM audited_conversions
  WHERE status = 'credited'
),
found AS (
  SELECT table_name, day, sum(clicks) AS clicks, sum(conversions) AS conversions, sum(earnings) AS earnings
  FROM counted
  WHERE day IN (SELECT day FROM audited_days)
  GROUP BY ALL
),
expected AS (
  SELECT
    tables.table_name,
    day,
    CASE WHEN tables.table_name = 'conversions' THEN 0 ELSE clicks END AS clicks,
    conversions,
    earnings
  FROM by_hour
  CROSS JOIN (VALUES ('network_hourly'), ('offer_daily'), ('site_daily'), ('conversions')) AS tables (table_name)
)
SELECT
  table_name,
  day,
  found.clicks,
  expected.clicks AS clicks_by_hour,
  found.conversions,
  expected.conversions AS conversions_by_hour,
  found.earnings,
  expected.earnings AS earnings_by_hour
FROM found
FULL JOIN expected USING (table_name, day)
WHERE coalesce(found.clicks, 0) <> coalesce(expected.clicks, 0)
  OR coalesce(found.conversions, 0) <> coalesce(expected.conversions, 0)
  OR coalesce(found.earnings, 0) <> coalesce(expected.earnings, 0)
