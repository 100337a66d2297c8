-- Postbacks: what is to be told to publishers, and what became of it. Delivery keeps its own store, so that a run and a
-- delivery pass never wait for each other; these tables meet it once a run.

-- One row per postback, the outbox: written in the transaction that made its event known and attributed; never changed.
CREATE TABLE outbox (
  number BIGINT PRIMARY KEY,
  webhook_id VARCHAR NOT NULL UNIQUE,
  conversion_id VARCHAR NOT NULL,
  kind VARCHAR NOT NULL CHECK (kind IN ('credit', 'reject', 'chargeback')),
  click_id VARCHAR NOT NULL,
  site_key VARCHAR NOT NULL,
  user_id VARCHAR NOT NULL,
  offer_id INTEGER NOT NULL,
  reward DECIMAL(24, 4) NOT NULL,
  occurred_at TIMESTAMPTZ NOT NULL,
  enqueued_at TIMESTAMPTZ NOT NULL,
  UNIQUE (conversion_id, kind)
);

-- One row per conversion event of which is not decided yet whether it makes a postback: its click, its offer, its
-- milestone or its site is unknown, or it is stamped later than every as-of so far.
CREATE TABLE postbacks_undecided (
  conversion_id VARCHAR NOT NULL,
  kind VARCHAR NOT NULL,
  PRIMARY KEY (conversion_id, kind)
);

-- One row per postback, as the delivery store had it last.
CREATE TABLE delivery_states (
  webhook_id VARCHAR PRIMARY KEY,
  reward DECIMAL(24, 4) NOT NULL,
  state VARCHAR NOT NULL CHECK (state IN ('pending', 'delivering', 'delivered', 'dead')),
  attempts INTEGER NOT NULL,
  last_attempt_at TIMESTAMPTZ,
  last_status INTEGER,
  last_error VARCHAR,
  delivered_at TIMESTAMPTZ,
  next_attempt_at TIMESTAMPTZ
);

-- One row per attempt at delivering a postback.
CREATE TABLE delivery_attempts (
  webhook_id VARCHAR NOT NULL,
  attempt INTEGER NOT NULL,
  started_at TIMESTAMPTZ NOT NULL,
  duration_ms INTEGER NOT NULL,
  status INTEGER,
  error VARCHAR,
  host VARCHAR NOT NULL,
  PRIMARY KEY (webhook_id, attempt)
);

-- One row per mart of postbacks and UTC day whose file no longer agrees with these tables; emptied by the models.
CREATE TABLE touched_postback_days (
  mart VARCHAR NOT NULL,
  day DATE NOT NULL,
  PRIMARY KEY (mart, day)
);
