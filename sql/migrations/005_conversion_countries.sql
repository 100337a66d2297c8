-- Conversions have country and device of their click. Those of clicks that were found before are read from their events by
-- the next run, since no statement here knows the files of events.
ALTER TABLE conversion_clicks ADD COLUMN country VARCHAR;
ALTER TABLE conversion_clicks ADD COLUMN device VARCHAR;
INSERT INTO warehouse_facts SELECT 'clicks_without_country', 'true' WHERE EXISTS (FROM conversion_clicks);
-- The published conversions get three columns: all their days are computed again.
INSERT OR IGNORE INTO dirty_days SELECT day FROM mart_files WHERE mart = 'conversions';
DELETE FROM warehouse_facts WHERE fact = 'marts_revision';
