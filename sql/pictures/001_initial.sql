-- The index of mirrored pictures, in SQLite. Times are milliseconds since the epoch.

-- One row per name of a picture in feeds.
CREATE TABLE pictures (
  name TEXT PRIMARY KEY,
  address TEXT NOT NULL,
  file TEXT,
  bytes INTEGER,
  answered_by TEXT,
  etag TEXT,
  last_modified TEXT,
  asked_at INTEGER,
  next_at INTEGER NOT NULL,
  failures INTEGER NOT NULL DEFAULT 0,
  error TEXT,
  wanted_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- One row at most.
CREATE TABLE last_pass (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  error TEXT
) STRICT;
