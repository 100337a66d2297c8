-- The network by hour and sites by day are a few rows a day: they are kept here, and copied whole into each snapshot.

-- One row per UTC hour with a click or credited conversion: sql/marts/network_hourly.sql fills it.
CREATE TABLE network_hourly (
  hour TIMESTAMPTZ NOT NULL,
  clicks BIGINT NOT NULL,
  conversions BIGINT NOT NULL,
  earnings DECIMAL(24, 6) NOT NULL
);

-- One row per UTC day and site with a click or credited conversion: sql/staging/site_days_as_of.sql fills it.
CREATE TABLE site_days (
  day DATE NOT NULL,
  site_key VARCHAR NOT NULL,
  clicks BIGINT NOT NULL,
  conversions BIGINT NOT NULL,
  converted_clicks BIGINT NOT NULL,
  earnings DECIMAL(24, 6) NOT NULL
);

-- All days that have figures get these, too, in the next run.
INSERT OR IGNORE INTO touched_days SELECT DISTINCT day FROM mart_files WHERE mart = 'offer_hourly';

DELETE FROM warehouse_facts WHERE fact = 'marts_change_number';
