-- What a postback may say beside its signed fields: the tracking values of its click, and a JSON object of texts, event_id, sub1,
-- sub2, reason and payout, frozen with the reward. NULL in rows of the outbox that are older than this; those of clicks are read
-- from their events by the next run, with what the migration of countries has it read.
ALTER TABLE conversion_clicks ADD COLUMN sub1 VARCHAR;
ALTER TABLE conversion_clicks ADD COLUMN sub2 VARCHAR;
ALTER TABLE outbox ADD COLUMN further VARCHAR;
INSERT INTO warehouse_facts
SELECT 'clicks_without_country', 'true'
WHERE EXISTS (FROM conversion_clicks) AND NOT EXISTS (FROM warehouse_facts WHERE fact = 'clicks_without_country');
