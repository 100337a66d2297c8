-- The click of the first row about a conversion: two networks may have conversions of one id, and a list of the one says nothing of
-- the other's. NULL where a row was written before this column.
ALTER TABLE conversion_states ADD COLUMN click_id VARCHAR;
