-- How the postbacks of each site stand, as the run that built the snapshot found them, for the service's metrics: of the hundred sites that wait for longest, and
-- after them of those with most that were given up. Sites whose postbacks were all taken are left out.
-- grain: one row per site
-- key: site_key
-- columns:
--   site_key: Site that receives them
--   waiting: Postbacks that wait for an attempt, or are under way
--   failing: Those of them whose last attempt failed
--   dead: Postbacks that were given up, until somebody revives them
--   oldest_waiting_at?: When the oldest waiting one was written, UTC; NULL where none waits
SELECT
  site_key,
  count(*) FILTER (WHERE state IN ('pending', 'delivering')) AS waiting,
  count(*) FILTER (WHERE state IN ('pending', 'delivering') AND last_error IS NOT NULL) AS failing,
  count(*) FILTER (WHERE state = 'dead') AS dead,
  min(enqueued_at) FILTER (WHERE state IN ('pending', 'delivering')) AS oldest_waiting_at
FROM snapshot.postbacks
WHERE state <> 'delivered'
GROUP BY site_key
ORDER BY oldest_waiting_at NULLS LAST, dead DESC, site_key
LIMIT 100
