-- One row per conversion event that an earlier warehouse had decided on, filled when the state is rebuilt: reading its log
-- again must not tell a publisher what was never to be told.
CREATE TABLE settled_events (
  conversion_id VARCHAR NOT NULL,
  kind VARCHAR NOT NULL,
  PRIMARY KEY (conversion_id, kind)
);
