-- JSON of the configuration that a landing file was read with, so that it is read again where another one can heal what
-- was refused; NULL for files from before this was kept.
ALTER TABLE ingest_files ADD COLUMN read_with VARCHAR;
