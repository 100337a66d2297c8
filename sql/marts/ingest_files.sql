-- The ledger of landing files. For every file rows = accepted + duplicates + rejected.
-- grain: one row per landing file that was read
-- key: file_id
-- inputs: ingest_files
-- columns:
--   file_id: Number of the file; clicks carry it
--   path: Path under the landing folder
--   kind: offers, clicks or conversions
--   source?: Catalog source; NULL for logs
--   sha256: Digest of the bytes
--   bytes: Size in bytes
--   rows: Rows in the file; 0 where it was quarantined or superseded
--   accepted: Rows taken
--   duplicates: Rows that were there already
--   conflicts: Duplicates that say something else than the first one
--   rejected: Bad rows, each with a row in rejects
--   warnings: Values dropped, and unknown fields, once each
--   status: loaded, quarantined (unreadable as a whole), held (would remove too much), superseded (a newer export decided)
--   reason?: Why it was not loaded
--   run_id: The run that took it up
--   ingested_at: Wall clock, UTC
SELECT
  file_id, path, kind, source, sha256, bytes, rows, accepted, duplicates, conflicts, rejected, warnings, status, reason, run_id, ingested_at
FROM ingest_files
ORDER BY file_id
