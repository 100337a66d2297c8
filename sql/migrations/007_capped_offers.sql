-- One row per offer that feeds have hidden because a daily cap was reached: when it was found reached, and when no more, each
-- as-of of the run that found it. uncapped_at is NULL while it is hidden.
CREATE TABLE capped_offers (
  offer_id INTEGER PRIMARY KEY,
  capped_at TIMESTAMPTZ NOT NULL,
  uncapped_at TIMESTAMPTZ
);
