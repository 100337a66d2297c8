-- The newest of what has come in, up to the snapshot's as-of: whether traffic is arriving, without looking at all events.
-- grain: one row per kind of log, and per source of offers, of which anything was ever loaded
-- key: kind, source
-- columns:
--   kind: clicks, conversions or offers
--   source?: The source of offers; NULL for logs
--   newest_event_at?: The newest clicked_at, or occurred_at of an event of a conversion, that is not after as-of, UTC; NULL where there is none, and for offers
--   newest_ingested_at: When a file of it was last loaded, wall clock, UTC
WITH newest AS (
  SELECT kind, max(moment) AS newest_event_at
  FROM (
    SELECT kind, last_at AS moment
    FROM event_files
    WHERE last_at <= $as_of
    UNION ALL
    SELECT kind, moment
    FROM cut_event_files
    WHERE moment <= $as_of
  )
  GROUP BY kind
),
loaded AS (
  SELECT kind, source, max(ingested_at) AS newest_ingested_at
  FROM ingest_files
  WHERE status = 'loaded'
  GROUP BY kind, source
)
SELECT
  loaded.kind,
  loaded.source,
  newest.newest_event_at,
  loaded.newest_ingested_at
FROM loaded
LEFT JOIN newest ON newest.kind = loaded.kind
ORDER BY loaded.kind, loaded.source
