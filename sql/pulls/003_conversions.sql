-- One row per source: the export of conversions that was written last. A pull that ends by force before it has named its
-- file leaves that to the next one.
CREATE TABLE last_exports (
  source TEXT PRIMARY KEY,
  name TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Amount and currency as the network listed them; NULL where it listed none, or the row is older than this column.
ALTER TABLE told_conversions ADD COLUMN listed TEXT;
