-- What operators need: schedules remembered, stages weighed, event files compacted, reports computed anew.

-- The moment of the schedule that a run was started for; NULL where somebody started it by hand.
ALTER TABLE runs ADD COLUMN scheduled_at TIMESTAMPTZ;

-- Bytes that a stage read or wrote, where it counts any.
ALTER TABLE run_stages ADD COLUMN bytes BIGINT;

-- NULL as ingested; 'sorted': by event_key, in row groups of 16,384; 'reduced': sorted, and without the clicks' details.
ALTER TABLE event_files ADD COLUMN form VARCHAR;

-- One row per UTC day and cause for which the day's report is missing or no longer agrees with the events or the
-- catalog; removed when the report is computed. run_id: the run that found it last.
CREATE TABLE outdated_reports (
  day DATE NOT NULL,
  cause VARCHAR NOT NULL CHECK (cause IN ('clicks', 'conversions', 'attribution', 'offers')),
  run_id BIGINT NOT NULL,
  PRIMARY KEY (day, cause)
);

-- One row per UTC day whose report a backfill has computed anew; a backfill's end takes them all up at once.
CREATE TABLE staged_reports (
  day DATE PRIMARY KEY,
  path VARCHAR NOT NULL,
  run_id BIGINT NOT NULL,
  as_of TIMESTAMPTZ NOT NULL,
  rows BIGINT NOT NULL,
  bytes BIGINT NOT NULL,
  sha256 VARCHAR NOT NULL
);

-- What came before this was kept track of: days with traffic, and the days after them, that have no report yet.
INSERT INTO outdated_reports
SELECT day, cause, max(run_id)
FROM (
  SELECT day, kind AS cause, run_id FROM event_files
  UNION ALL
  SELECT day + 1, kind, run_id FROM event_files
)
WHERE day NOT IN (SELECT day FROM mart_files WHERE mart = 'report_daily')
GROUP BY ALL;
