-- When a conversion changed last, for publishers who ask for what has changed: each fact that a conversion is made of keeps
-- when it became known, the later of as-of and wall clock of its run, so that no later run has an earlier moment.
ALTER TABLE conversion_events ADD COLUMN known_at TIMESTAMPTZ;
ALTER TABLE conversion_clicks ADD COLUMN known_at TIMESTAMPTZ;
UPDATE conversion_events SET known_at = ingest_files.ingested_at FROM ingest_files WHERE ingest_files.file_id = conversion_events.file_id;
-- The published conversions get two columns: all their days are computed again.
INSERT OR IGNORE INTO dirty_days SELECT day FROM mart_files WHERE mart = 'conversions';
DELETE FROM warehouse_facts WHERE fact = 'marts_revision';
