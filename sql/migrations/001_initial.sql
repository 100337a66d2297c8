-- The pipeline's own state: what is small and changes. Events themselves are Parquet files that event_files names.
-- No CREATE INDEX (lookups through one lost rows after a replayed log); inline keys only; keys are never updated.
-- Large tables have no key: DuckDB takes a hundred microseconds and more to delete a row of a table with one, and writes
-- the whole index at each checkpoint. Their writers look for copies themselves, and audits find a row that is there twice.

-- One row per run of a pipeline.
CREATE TABLE runs (
  run_id BIGINT PRIMARY KEY,
  pipeline VARCHAR NOT NULL,
  as_of TIMESTAMPTZ NOT NULL,
  started_at TIMESTAMPTZ NOT NULL,
  finished_at TIMESTAMPTZ,
  status VARCHAR NOT NULL CHECK (status IN ('running', 'done', 'failed', 'interrupted')),
  snapshot_id VARCHAR,
  error VARCHAR,
  -- The moment of the schedule that the run was started for; NULL of a run started by hand.
  scheduled_at TIMESTAMPTZ
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
  -- Bytes read or written by the stage, where it counts any.
  bytes BIGINT,
  PRIMARY KEY (run_id, stage)
);

-- One row per ingested landing file, the ledger: rows = accepted + duplicates + rejected.
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
  ingested_at TIMESTAMPTZ NOT NULL,
  -- JSON of the configuration that the file was read with: it is read again where another one can heal what was refused.
  read_with VARCHAR NOT NULL
);

-- One row per landing path ever looked at: lets a run skip files that have not changed without reading them.
CREATE TABLE landing_seen (
  path VARCHAR NOT NULL,
  bytes BIGINT NOT NULL,
  modified_ns BIGINT NOT NULL,
  changed_ns BIGINT NOT NULL,
  sha256 VARCHAR NOT NULL
);

-- One row per rejected row of a landing file, up to 1,000 a file. raw: its first 2,000 characters; raw_length: characters
-- of the whole row.
CREATE TABLE rejects (
  file_id BIGINT NOT NULL,
  path VARCHAR NOT NULL,
  line BIGINT NOT NULL,
  reason VARCHAR NOT NULL,
  raw VARCHAR NOT NULL,
  raw_length BIGINT NOT NULL
);

-- One row per file, warning and field; the first twenty unknown fields of a file, and the number of the others.
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

-- One row per offer whose version says all that its record says, so that the same record, known by the digest of its text
-- in base64url, need not be read again. Holds for that version only, for records that are read in the same way, and not
-- by a wall clock before that of the reading, which may refuse what is stamped ahead. `remarks` is JSON of what the
-- record says beside its offer: its currency and its warnings. No key: inserting into one takes ten times as long.
CREATE TABLE offer_records (
  offer_id INTEGER NOT NULL,
  version INTEGER NOT NULL,
  record_sha256 VARCHAR NOT NULL,
  read_as_sha256 VARCHAR NOT NULL,
  read_at TIMESTAMPTZ NOT NULL,
  remarks VARCHAR
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
  last_at TIMESTAMPTZ NOT NULL,
  -- NULL as ingested; 'sorted': by event_key, in row groups of 16,384; 'reduced': sorted, and without the clicks' details.
  form VARCHAR
);

-- One row per key run: the sorted keys of the events of one or more runs, each with the day of its event. The entries of
-- a kind are as many as the rows of its event files; where they are not, they are written again.
CREATE TABLE key_runs (
  path VARCHAR PRIMARY KEY,
  kind VARCHAR NOT NULL CHECK (kind IN ('clicks', 'conversions')),
  entries BIGINT NOT NULL,
  bytes BIGINT NOT NULL,
  sha256 VARCHAR NOT NULL
);

-- One row per accepted conversion event: of each conversion_id and kind one.
CREATE TABLE conversion_events (
  conversion_id VARCHAR NOT NULL,
  kind VARCHAR NOT NULL CHECK (kind IN ('credit', 'reject', 'chargeback')),
  click_id VARCHAR NOT NULL,
  occurred_at TIMESTAMPTZ NOT NULL,
  event_id VARCHAR,
  payout DECIMAL(15, 6),
  reason VARCHAR,
  file_id BIGINT NOT NULL
);

-- One row per click that a conversion event names and that has been ingested: of each click_id one.
CREATE TABLE conversion_clicks (
  click_id VARCHAR NOT NULL,
  offer_id INTEGER,
  source VARCHAR,
  external_id VARCHAR,
  site_key VARCHAR NOT NULL,
  user_id VARCHAR NOT NULL,
  clicked_at TIMESTAMPTZ NOT NULL
);

-- One row per click that conversion events name and that has not been ingested yet.
CREATE TABLE waiting_clicks (click_id VARCHAR NOT NULL);

-- One row per UTC hour and offer as the clicks name it. An unnamed part is 0 or ''.
CREATE TABLE click_hourly (
  hour TIMESTAMPTZ NOT NULL,
  offer_id INTEGER NOT NULL,
  source VARCHAR NOT NULL,
  external_id VARCHAR NOT NULL,
  clicks BIGINT NOT NULL
);

-- One row per UTC day whose marts no longer agree with the events or the catalog; emptied by the models.
CREATE TABLE dirty_days (
  day DATE PRIMARY KEY
);

-- One row per UTC day and cause for which the day's report is missing or no longer agrees with the events or the
-- catalog; removed when the report is computed. run_id: the run that found it last.
CREATE TABLE outdated_reports (
  day DATE NOT NULL,
  cause VARCHAR NOT NULL CHECK (cause IN ('clicks', 'conversions', 'attribution', 'offers')),
  run_id BIGINT NOT NULL,
  PRIMARY KEY (day, cause)
);

-- One row per UTC day whose report a backfill has computed anew; a backfill publishes them all at once at its end.
CREATE TABLE staged_reports (
  day DATE PRIMARY KEY,
  path VARCHAR NOT NULL,
  run_id BIGINT NOT NULL,
  as_of TIMESTAMPTZ NOT NULL,
  rows BIGINT NOT NULL,
  bytes BIGINT NOT NULL,
  sha256 VARCHAR NOT NULL
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

-- Postbacks: what publishers are owed, and the state of its delivery. Delivery keeps its own store, so that a run and a
-- delivery pass never wait for each other; these tables meet it once a run.

-- One row per postback, the outbox, in the order of `number`: written in the transaction that made its event known and
-- attributed, never changed. Of each webhook_id one, and of each conversion_id and kind.
CREATE TABLE outbox (
  number BIGINT NOT NULL,
  webhook_id VARCHAR NOT NULL,
  conversion_id VARCHAR NOT NULL,
  kind VARCHAR NOT NULL CHECK (kind IN ('credit', 'reject', 'chargeback')),
  click_id VARCHAR NOT NULL,
  site_key VARCHAR NOT NULL,
  user_id VARCHAR NOT NULL,
  offer_id INTEGER NOT NULL,
  reward DECIMAL(24, 4) NOT NULL,
  occurred_at TIMESTAMPTZ NOT NULL,
  enqueued_at TIMESTAMPTZ NOT NULL
);

-- One row per conversion event that is not decided yet: its click, its offer, its milestone or its site is unknown, or it
-- is stamped later than every as-of so far.
CREATE TABLE postbacks_undecided (conversion_id VARCHAR NOT NULL, kind VARCHAR NOT NULL);

-- One row per conversion event that an earlier warehouse had decided on, filled when the state is rebuilt: reading its log
-- again must not send a publisher what was never to be sent.
CREATE TABLE settled_events (
  conversion_id VARCHAR NOT NULL,
  kind VARCHAR NOT NULL,
  PRIMARY KEY (conversion_id, kind)
);

-- One row per postback that delivery has begun with, as the delivery store had it last.
CREATE TABLE delivery_states (
  webhook_id VARCHAR NOT NULL,
  reward DECIMAL(24, 4) NOT NULL,
  state VARCHAR NOT NULL CHECK (state IN ('pending', 'delivering', 'delivered', 'dead')),
  attempts INTEGER NOT NULL,
  last_attempt_at TIMESTAMPTZ,
  last_status INTEGER,
  last_error VARCHAR,
  delivered_at TIMESTAMPTZ,
  next_attempt_at TIMESTAMPTZ
);

-- One row per attempt at delivering a postback: of each webhook_id and attempt one.
CREATE TABLE delivery_attempts (
  webhook_id VARCHAR NOT NULL,
  attempt INTEGER NOT NULL,
  started_at TIMESTAMPTZ NOT NULL,
  duration_ms INTEGER NOT NULL,
  status INTEGER,
  error VARCHAR,
  host VARCHAR NOT NULL
);

-- One row per mart of postbacks and UTC day whose file no longer agrees with these tables; emptied by the models.
CREATE TABLE dirty_postback_days (
  mart VARCHAR NOT NULL,
  day DATE NOT NULL,
  PRIMARY KEY (mart, day)
);
