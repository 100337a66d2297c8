-- Files whose rows say what state a conversion is in: what was emitted of it before decides which events a newer row becomes.

-- One row per conversion that such rows have emitted: the number of its credits so far (the second goes under `<id>~2`),
-- whether it is credited now, at which amount (gross USD; NULL: the catalog's), and the version of the row that said so
-- last, as text that sorts; NULL where its mapping names none.
CREATE TABLE conversion_states (
  conversion_id VARCHAR NOT NULL,
  credits INTEGER NOT NULL,
  state VARCHAR NOT NULL CHECK (state IN ('credited', 'reversed')),
  payout DECIMAL(15, 6),
  version VARCHAR
);
