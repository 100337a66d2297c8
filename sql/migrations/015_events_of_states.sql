-- The milestones that rows of state have credited a conversion for, and when the last one happened: one id for two milestones is two
-- conversions, and a row about the one says nothing of the other. A JSON list, null in it for the offer itself. NULL where a row was
-- written before these columns.
ALTER TABLE conversion_states ADD COLUMN events VARCHAR;
ALTER TABLE conversion_states ADD COLUMN occurred_at TIMESTAMPTZ;
