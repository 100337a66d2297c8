-- The pipeline's own state: what is small and changes. Events themselves are Parquet files that event_files names.
-- No CREATE INDEX (lookups through one lost rows after a replayed log); inline keys only; keys are never updated.

-- One row per run of a pipeline.
CREATE TABLE runs (
  run_id BIGINT PRIMARY KEY,
  pipeline VARCHAR NOT NULL,
  as_of TIMESTAMPTZ NOT NULL,
  started_at TIMESTAMPTZ NOT NULL,
  finished_at TIMESTAMPTZ,
  status VARCHAR NOT NULL CHECK (status IN ('running', 'done', 'failed', 'interrupted')),
  snapshot_id VARCHAR,
  error VARCHAR
);

-- One row per stage of a run.
CREATE TABLE run_stages (
  run_id BIGINT NOT NULL,
  stage VARCHAR NOT NULL,
  started_at TIMESTAMPTZ NOT NULL,
  finished_at TIMESTAMPTZ,
  status VARCHAR NOT NULL CHECK (status IN ('running', 'done', 'failed', 'interrupted')),
  rows_in BIGINT,
  rows_out BIGINT,
  error VARCHAR,
  PRIMARY KEY (run_id, stage)
);

-- One row per landing file whose bytes were taken up, the ledger: rows = accepted + duplicates + rejected.
CREATE TABLE ingest_files (
  file_id BIGINT PRIMARY KEY,
  run_id BIGINT NOT NULL,
  kind VARCHAR NOT NULL CHECK (kind IN ('offers', 'clicks', 'conversions')),
  source VARCHAR,
  path VARCHAR NOT NULL,
  sha256 VARCHAR NOT NULL,
  bytes BIGINT NOT NULL,
  modified_ns BIGINT NOT NULL,
  rows BIGINT NOT NULL,
  accepted BIGINT NOT NULL,
  duplicates BIGINT NOT NULL,
  conflicts BIGINT NOT NULL,
  rejected BIGINT NOT NULL,
  warnings BIGINT NOT NULL,
  status VARCHAR NOT NULL CHECK (status IN ('loaded', 'quarantined', 'held', 'superseded')),
  reason VARCHAR,
  ingested_at TIMESTAMPTZ NOT NULL
);

-- One row per landing path ever looked at: lets a run skip files that have not changed without reading them.
CREATE TABLE landing_seen (
  path VARCHAR PRIMARY KEY,
  bytes BIGINT NOT NULL,
  modified_ns BIGINT NOT NULL,
  changed_ns BIGINT NOT NULL,
  sha256 VARCHAR NOT NULL
);

-- One row per rejected row of a landing file.
CREATE TABLE rejects (
  file_id BIGINT NOT NULL,
  path VARCHAR NOT NULL,
  line BIGINT NOT NULL,
  reason VARCHAR NOT NULL,
  raw VARCHAR NOT NULL
);

-- One row per file, warning and field.
CREATE TABLE ingest_warnings (
  file_id BIGINT NOT NULL,
  warning VARCHAR NOT NULL,
  field VARCHAR,
  rows BIGINT NOT NULL
);

-- One row per offer that was ever in a catalog: its identity, which outlives its content.
CREATE TABLE offers (
  offer_id INTEGER PRIMARY KEY,
  source VARCHAR NOT NULL,
  external_id VARCHAR NOT NULL,
  first_seen_at TIMESTAMPTZ NOT NULL,
  UNIQUE (source, external_id)
);

-- One row per content version of an offer. A version ends where the next one of its offer begins.
CREATE TABLE offer_versions (
  offer_id INTEGER NOT NULL,
  version INTEGER NOT NULL,
  valid_from TIMESTAMPTZ NOT NULL,
  run_id BIGINT NOT NULL,
  status VARCHAR NOT NULL CHECK (status IN ('active', 'paused', 'vanished')),
  titles JSON NOT NULL,
  descriptions JSON NOT NULL,
  payout DECIMAL(15, 6) NOT NULL,
  image_name VARCHAR NOT NULL,
  image_source VARCHAR NOT NULL,
  level VARCHAR NOT NULL,
  stars INTEGER NOT NULL,
  categories VARCHAR[] NOT NULL,
  countries VARCHAR[] NOT NULL,
  devices VARCHAR[] NOT NULL,
  payment_term VARCHAR NOT NULL,
  android_min_os VARCHAR,
  ios_min_os VARCHAR,
  destination_url VARCHAR,
  preview_url VARCHAR,
  tracking_type VARCHAR NOT NULL,
  report_category VARCHAR NOT NULL,
  formats VARCHAR[] NOT NULL,
  daily_cap INTEGER,
  daily_click_cap INTEGER,
  multi_complete BOOLEAN NOT NULL,
  events JSON NOT NULL,
  created_at TIMESTAMPTZ NOT NULL,
  updated_at TIMESTAMPTZ NOT NULL,
  content_sha256 VARCHAR NOT NULL,
  published_sha256 VARCHAR NOT NULL,
  PRIMARY KEY (offer_id, version)
);

-- One row per milestone of a content version; a version without rows is a single-reward one.
CREATE TABLE offer_version_events (
  offer_id INTEGER NOT NULL,
  version INTEGER NOT NULL,
  event_id VARCHAR NOT NULL,
  payout DECIMAL(15, 6) NOT NULL,
  PRIMARY KEY (offer_id, version, event_id)
);

-- One row per Parquet file of accepted events; a file that no row names is litter.
CREATE TABLE event_files (
  path VARCHAR PRIMARY KEY,
  kind VARCHAR NOT NULL CHECK (kind IN ('clicks', 'conversions')),
  day DATE NOT NULL,
  run_id BIGINT NOT NULL,
  rows BIGINT NOT NULL,
  bytes BIGINT NOT NULL,
  sha256 VARCHAR NOT NULL,
  first_at TIMESTAMPTZ NOT NULL,
  last_at TIMESTAMPTZ NOT NULL
);

-- One row per accepted conversion event.
CREATE TABLE conversion_events (
  conversion_id VARCHAR NOT NULL,
  kind VARCHAR NOT NULL CHECK (kind IN ('credit', 'reject', 'chargeback')),
  click_id VARCHAR NOT NULL,
  occurred_at TIMESTAMPTZ NOT NULL,
  event_id VARCHAR,
  payout DECIMAL(15, 6),
  reason VARCHAR,
  file_id BIGINT NOT NULL,
  PRIMARY KEY (conversion_id, kind)
);

-- One row per click that a conversion event names and that has been ingested.
CREATE TABLE conversion_clicks (
  click_id VARCHAR PRIMARY KEY,
  offer_id INTEGER,
  source VARCHAR,
  external_id VARCHAR,
  site_key VARCHAR NOT NULL,
  user_id VARCHAR NOT NULL,
  clicked_at TIMESTAMPTZ NOT NULL
);

-- One row per click that a conversion event names and that has not been ingested yet.
CREATE TABLE waiting_clicks (
  click_id VARCHAR PRIMARY KEY
);

-- One row per UTC hour and offer as the clicks name it. An unnamed part is 0 or ''.
CREATE TABLE click_hourly (
  hour TIMESTAMPTZ NOT NULL,
  offer_id INTEGER NOT NULL,
  source VARCHAR NOT NULL,
  external_id VARCHAR NOT NULL,
  clicks BIGINT NOT NULL
);

-- One row per UTC day whose marts no longer agree with the events or the catalog; emptied by the models.
CREATE TABLE touched_days (
  day DATE PRIMARY KEY
);

-- The latest figures, one row per offer: sql/marts/offer_stats_2d.sql fills it.
CREATE TABLE offer_stats_2d (
  offer_id INTEGER PRIMARY KEY,
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

-- One row per mart and UTC day: the Parquet file that holds the day's rows.
CREATE TABLE mart_files (
  mart VARCHAR NOT NULL,
  day DATE NOT NULL,
  path VARCHAR NOT NULL,
  run_id BIGINT NOT NULL,
  as_of TIMESTAMPTZ NOT NULL,
  rows BIGINT NOT NULL,
  bytes BIGINT NOT NULL,
  sha256 VARCHAR NOT NULL,
  PRIMARY KEY (mart, day)
);

-- One row per change of a site's commission.
CREATE TABLE site_commissions (
  site_key VARCHAR NOT NULL,
  valid_from TIMESTAMPTZ NOT NULL,
  commission DECIMAL(7, 6) NOT NULL,
  PRIMARY KEY (site_key, valid_from)
);

-- One row per fact about the warehouse itself.
CREATE TABLE warehouse_facts (
  fact VARCHAR PRIMARY KEY,
  value VARCHAR NOT NULL
);
