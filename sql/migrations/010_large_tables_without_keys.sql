-- DuckDB takes a hundred microseconds and more to delete a row of a table with a key, and writes the whole index of a
-- key at each checkpoint: a first run with a million conversions spent minutes on it. What writes these tables looks for
-- copies itself, audits find a postback that is there twice, and the delivery store takes each webhook_id once.

ALTER TABLE outbox RENAME TO keyed_outbox;

-- One row per postback to a publisher, in the order of `number`: of each webhook_id one, and of each conversion_id and
-- kind.
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

INSERT INTO outbox FROM keyed_outbox ORDER BY number;

DROP TABLE keyed_outbox;

ALTER TABLE postbacks_undecided RENAME TO keyed_postbacks_undecided;

-- One row per conversion event of which is not decided yet whether it makes a postback: its click, its offer, its
-- milestone or its site is unknown, or it is stamped later than every as-of so far.
CREATE TABLE postbacks_undecided (conversion_id VARCHAR NOT NULL, kind VARCHAR NOT NULL);

INSERT INTO postbacks_undecided FROM keyed_postbacks_undecided;

DROP TABLE keyed_postbacks_undecided;

ALTER TABLE waiting_clicks RENAME TO keyed_waiting_clicks;

-- One row per click that conversion events name and that has not been ingested yet.
CREATE TABLE waiting_clicks (click_id VARCHAR NOT NULL);

INSERT INTO waiting_clicks FROM keyed_waiting_clicks;

DROP TABLE keyed_waiting_clicks;

ALTER TABLE delivery_states RENAME TO keyed_delivery_states;

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

INSERT INTO delivery_states FROM keyed_delivery_states;

DROP TABLE keyed_delivery_states;

ALTER TABLE delivery_attempts RENAME TO keyed_delivery_attempts;

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

INSERT INTO delivery_attempts FROM keyed_delivery_attempts;

DROP TABLE keyed_delivery_attempts;

ALTER TABLE landing_seen RENAME TO keyed_landing_seen;

-- One row per landing path ever looked at: lets a run skip files that have not changed without reading them.
CREATE TABLE landing_seen (
  path VARCHAR NOT NULL,
  bytes BIGINT NOT NULL,
  modified_ns BIGINT NOT NULL,
  changed_ns BIGINT NOT NULL,
  sha256 VARCHAR NOT NULL
);

INSERT INTO landing_seen FROM keyed_landing_seen;

DROP TABLE keyed_landing_seen;
