-- The ledger of landing files: how each was read. For every file rows = accepted + duplicates + rejected.
-- grain: one row per landing file that was read
-- key: file_id
-- columns:
--   file_id: Number of the file; its clicks, rejects and warnings carry it
--   path: Path under the landing folder
--   kind: offers, clicks or conversions
--   source?: Catalog source; NULL for logs
--   sha256: SHA-256 of the bytes as they landed, lower-case hex
--   bytes: Size in bytes, of a packed file packed
--   rows: Rows in the file; 0 where it was quarantined or superseded
--   accepted: Rows that count
--   duplicates: Rows that were there already
--   conflicts: Duplicates that say something else than the first one
--   rejected: Bad rows, of which the first 1,000 have a row in rejects
--   warnings: Values dropped or replaced, one by one, and unknown fields, each once a file
--   status: loaded, quarantined (unreadable as a whole), held (would remove too much), superseded (a newer export decided)
--   reason?: Why it was not loaded; NULL where it was
--   run_id: The run in runs that ingested it, or left it out
--   ingested_at: When that was, wall clock, UTC
SELECT
  file_id, path, kind, source, sha256, bytes, rows, accepted, duplicates, conflicts, rejected, warnings, status, reason, run_id, ingested_at
FROM ingest_files
ORDER BY file_id
