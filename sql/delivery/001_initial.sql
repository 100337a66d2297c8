-- The delivery store, in SQLite: the state of every postback and each attempt. Times in integers are milliseconds since
-- the epoch.

-- One row. The id tells a store that was begun anew from the one before; `changes` is the last number given to a change.
CREATE TABLE store (store_id TEXT NOT NULL, changes INTEGER NOT NULL) STRICT;
INSERT INTO store VALUES (lower(hex(randomblob(16))), 0);

-- One row per warehouse whose outbox was imported, with the greatest number imported.
CREATE TABLE outbox_offsets (warehouse_id TEXT PRIMARY KEY, up_to INTEGER NOT NULL) STRICT;

-- One row per postback. `sort_key` sorts those of a click by time, then credit, reject, chargeback. `is_next`
-- marks the one of its click that may be sent: kept up to date rather than computed, so that claiming reads claimable
-- rows only, however many wait behind others. `plan_attempts` counts within the present plan of attempts, which a revival
-- begins anew. `change` is a number that no other row has; whatever ends an attempt or makes a plan anew raises it.
CREATE TABLE postbacks (
  sequence INTEGER PRIMARY KEY,
  webhook_id TEXT NOT NULL UNIQUE,
  conversion_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  click_id TEXT NOT NULL,
  site_key TEXT NOT NULL,
  user_id TEXT NOT NULL,
  offer_id INTEGER NOT NULL,
  reward TEXT NOT NULL,
  occurred_at TEXT NOT NULL,
  enqueued_at TEXT NOT NULL,
  sort_key TEXT NOT NULL,
  is_next INTEGER NOT NULL DEFAULT 0,
  state TEXT NOT NULL DEFAULT 'pending',
  attempts INTEGER NOT NULL DEFAULT 0,
  plan_attempts INTEGER NOT NULL DEFAULT 0,
  last_attempt_at INTEGER,
  last_status INTEGER,
  last_error TEXT,
  delivered_at INTEGER,
  next_attempt_at INTEGER,
  change INTEGER NOT NULL
) STRICT;
CREATE INDEX postbacks_pending ON postbacks (site_key, is_next, next_attempt_at, sequence) WHERE state = 'pending';
CREATE INDEX postbacks_unfinished_of_click ON postbacks (click_id, sort_key, conversion_id) WHERE state IN ('pending', 'delivering');
CREATE INDEX postbacks_by_conversion ON postbacks (conversion_id);
CREATE INDEX postbacks_by_sort_key ON postbacks (sort_key);
CREATE INDEX postbacks_by_change ON postbacks (change);
-- Counts by site and state, and by reason of failure, without reading the postbacks themselves: at 100,000 of them a
-- tenth of the time.
CREATE INDEX postbacks_by_state ON postbacks (state, site_key, sort_key);
CREATE INDEX postbacks_failed ON postbacks (last_error, last_status, state, site_key) WHERE last_error IS NOT NULL;

-- One row per attempt that ended; `change` is a number of the same count as that of postbacks.
CREATE TABLE attempts (
  change INTEGER PRIMARY KEY,
  sequence INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  status INTEGER,
  error TEXT,
  host TEXT NOT NULL
) STRICT;
CREATE INDEX attempts_by_postback ON attempts (sequence, attempt);

-- One row per site whose receiver is spared; a site without one is as usual.
CREATE TABLE circuit_breakers (
  site_key TEXT PRIMARY KEY,
  openings INTEGER NOT NULL,
  paused_until INTEGER NOT NULL
) STRICT;
