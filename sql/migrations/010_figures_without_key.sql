-- Each run replaces the figures. Of a table with a key DuckDB keeps the rows that were deleted, so this one grew by its size with
-- each run, and took longer to write each time. An audit of each snapshot holds that an offer has one row.
CREATE TABLE figures_without_key (
  offer_id INTEGER NOT NULL,
  as_of TIMESTAMPTZ NOT NULL,
  clicks BIGINT NOT NULL,
  conversions BIGINT NOT NULL,
  converted_clicks BIGINT NOT NULL,
  earnings DECIMAL(24, 6) NOT NULL,
  epc DECIMAL(24, 6) NOT NULL,
  cvr DECIMAL(24, 6) NOT NULL,
  conversions_24h BIGINT NOT NULL,
  conversions_prior_24h BIGINT NOT NULL,
  trend VARCHAR NOT NULL,
  rank BIGINT
);
INSERT INTO figures_without_key FROM offer_stats_2d;
DROP TABLE offer_stats_2d;
ALTER TABLE figures_without_key RENAME TO offer_stats_2d;
