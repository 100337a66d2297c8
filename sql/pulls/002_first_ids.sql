-- One row per conversion whose network gives it another id in future: the id that it was first listed by, which our logs
-- keep.
CREATE TABLE first_ids (
  source TEXT NOT NULL,
  later_id TEXT NOT NULL,
  first_id TEXT NOT NULL,
  PRIMARY KEY (source, later_id)
) STRICT, WITHOUT ROWID;

-- One row per campaign of a network that gives its link by a request of its own.
CREATE TABLE campaign_links (
  source TEXT NOT NULL,
  campaign_id TEXT NOT NULL,
  link TEXT NOT NULL,
  PRIMARY KEY (source, campaign_id)
) STRICT, WITHOUT ROWID;
