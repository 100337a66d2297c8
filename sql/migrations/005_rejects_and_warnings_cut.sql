-- A file of bad rows, or of made-up field names, would fill every snapshot with itself: of a rejected row its first 2,000
-- characters and its length are kept, of the unknown fields of a file the first twenty and the number of the others.

ALTER TABLE rejects RENAME TO whole_rejects;

-- One row per rejected row of a landing file, up to 1,000 a file. raw_length: characters of the whole row.
CREATE TABLE rejects (
  file_id BIGINT NOT NULL,
  path VARCHAR NOT NULL,
  line BIGINT NOT NULL,
  reason VARCHAR NOT NULL,
  raw VARCHAR NOT NULL,
  raw_length BIGINT NOT NULL
);

INSERT INTO rejects SELECT file_id, path, line, reason, left(raw, 2000), length(raw) FROM whole_rejects;

DROP TABLE whole_rejects;

CREATE TEMP TABLE unknown_fields AS
SELECT *, row_number() OVER (PARTITION BY file_id ORDER BY field) AS nth FROM ingest_warnings WHERE warning = 'unknown_field';

DELETE FROM ingest_warnings WHERE (file_id, warning, field) IN (SELECT (file_id, warning, field) FROM unknown_fields WHERE nth > 20);

INSERT INTO ingest_warnings
SELECT file_id, 'further_unknown_fields', NULL, count(*) FROM unknown_fields WHERE nth > 20 GROUP BY file_id;

DROP TABLE unknown_fields;
