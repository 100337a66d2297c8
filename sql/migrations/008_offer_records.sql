-- One row per offer whose version says all that its record says, so that the same record, told by the digest of its
-- text in base64url, need not be read again. Holds for that version only, for records that are read in the same way, and
-- not by a wall clock before that of the reading, which may refuse what is stamped ahead. `remarks` is JSON of what the
-- record says beside its offer: its currency and its warnings. No key: inserting into one takes ten times as long.
CREATE TABLE offer_records (
  offer_id INTEGER NOT NULL,
  version INTEGER NOT NULL,
  record_sha256 VARCHAR NOT NULL,
  read_as_sha256 VARCHAR NOT NULL,
  read_at TIMESTAMPTZ NOT NULL,
  remarks VARCHAR
);
