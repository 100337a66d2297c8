-- Links are those of an account: another key or address of the source has others, and a network replaces them. `account` is
-- a digest, and `asked_at` milliseconds since the epoch. Links of before are asked for again.
DROP TABLE campaign_links;
CREATE TABLE campaign_links (
  source TEXT NOT NULL,
  account TEXT NOT NULL,
  campaign_id TEXT NOT NULL,
  link TEXT NOT NULL,
  asked_at INTEGER NOT NULL,
  PRIMARY KEY (source, account, campaign_id)
) STRICT, WITHOUT ROWID;
