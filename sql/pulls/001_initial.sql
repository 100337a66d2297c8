-- What pulls keep of sources, in SQLite beside the warehouse.

-- One row per pull of a source. `left_out`, `warnings` and `conversions_left_out` are JSON: counts by reason.
CREATE TABLE pulls (
  pull_id INTEGER PRIMARY KEY,
  source TEXT NOT NULL,
  started_at TEXT NOT NULL,
  finished_at TEXT,
  status TEXT NOT NULL,
  pages INTEGER,
  records INTEGER,
  file TEXT,
  left_out TEXT,
  warnings TEXT,
  conversions INTEGER,
  conversion_lines INTEGER,
  conversions_left_out TEXT,
  error TEXT
) STRICT;
CREATE INDEX pulls_by_source ON pulls (source, status, pull_id);

-- One row per conversion of a network: its state as written into the landing folder.
CREATE TABLE told_conversions (
  conversion_id TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  state TEXT NOT NULL,
  payout TEXT,
  source TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- One row per object of a bucket that a pull has copied into the landing folder.
CREATE TABLE s3_taken (
  source TEXT NOT NULL,
  bucket TEXT NOT NULL,
  kind TEXT NOT NULL,
  object_key TEXT NOT NULL,
  etag TEXT NOT NULL,
  PRIMARY KEY (source, bucket, kind, object_key)
) STRICT, WITHOUT ROWID;

-- One row per unfinished copy: how many of its bytes are on the disk.
CREATE TABLE s3_parts (
  path TEXT PRIMARY KEY,
  synced_bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
