-- event_key is the first 60 bits of an MD5, the same number in every engine, where it was DuckDB's own hash.

-- True of a file whose keys are still those: it is written again before anything else reads the warehouse.
ALTER TABLE event_files ADD COLUMN has_old_keys BOOLEAN;

UPDATE event_files SET has_old_keys = true;

DELETE FROM warehouse_facts WHERE fact = 'event_key_of_offerline';

-- One row per key run: the sorted keys of the events of one or more runs, each with the day that its event lies on. The
-- entries of a kind are as many as the rows of its event files; where they are not, they are written again.
CREATE TABLE key_runs (
  path VARCHAR PRIMARY KEY,
  kind VARCHAR NOT NULL CHECK (kind IN ('clicks', 'conversions')),
  entries BIGINT NOT NULL,
  bytes BIGINT NOT NULL
);
