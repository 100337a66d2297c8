-- What rows of state said last: the amount before it was converted, as amount and currency, so that another rate is no
-- other amount; and the place of the row that decided, its file in the ledger and its line, so that a file which is read
-- again brings nothing that a later row has replaced. NULL where a row was written before these columns.
ALTER TABLE conversion_states ADD COLUMN listed VARCHAR;
ALTER TABLE conversion_states ADD COLUMN file_id INTEGER;
ALTER TABLE conversion_states ADD COLUMN line BIGINT;
