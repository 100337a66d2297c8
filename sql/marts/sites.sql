-- Publisher sites as sites.json had them when the snapshot's run began, without secrets and addresses.
-- grain: one row per site
-- key: site_key
-- columns:
--   site_key: Public identifier of the site
--   name: Display name
--   status: active, pending while not approved, or paused
--   variant: The variant of the publisher API it uses: A, B or C
--   commission: The network's share of a payout, from 0 to 1
--   commission_changed_at?: As-of of the run that last saw the commission, or one of site_commissions, change, or just after that of the snapshot before, UTC; NULL while none did
--   reward_rate: Publisher's points for one USD
--   rate_limit_per_hour: Requests that each bucket allows within any 60 minutes, in variants B and C
SELECT
  run_sites.site_key,
  name,
  status,
  variant,
  run_sites.commission,
  changed.commission_changed_at,
  reward_rate,
  rate_limit_per_hour
FROM run_sites
LEFT JOIN (
  SELECT site_key, max(valid_from) FILTER (is_changed) AS commission_changed_at
  FROM (
    SELECT site_key, valid_from, (commission, commissions) IS DISTINCT FROM lag((commission, commissions)) OVER by_site AND number > 1 AS is_changed
    FROM (SELECT *, row_number() OVER (PARTITION BY site_key ORDER BY valid_from) AS number FROM site_terms)
    WINDOW by_site AS (PARTITION BY site_key ORDER BY valid_from)
  )
  GROUP BY site_key
) AS changed ON changed.site_key = run_sites.site_key
ORDER BY run_sites.site_key
