-- The span of each content version of an offer, without its end, UTC. The first also reaches back for ever, the last
-- forward. Payouts are gross USD.
-- grain: one row per offer and version
-- key: offer_id, version
SELECT
  offer_id,
  version,
  status,
  payout,
  CASE WHEN lag(version) OVER by_version IS NULL THEN TIMESTAMPTZ '0001-01-01 00:00:00+00' ELSE valid_from END AS holds_from,
  coalesce(lead(valid_from) OVER by_version, TIMESTAMPTZ '9999-12-31 23:59:59+00') AS holds_until
FROM offer_versions
WINDOW by_version AS (PARTITION BY offer_id ORDER BY version)
