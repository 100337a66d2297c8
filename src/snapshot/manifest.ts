import { z } from 'zod';

/** The layout of snapshots that this code writes and serves. A service leaves other versions alone. */
export const schemaVersion = 1;
export const manifestFile = 'manifest.json';
export const analyticsFile = 'analytics.duckdb';

/** `manifest.json`: what a snapshot is and what every one of its files must be (contract section 6). */
export const manifestSchema = z.object({
  snapshot_id: z.string(),
  as_of: z.string(),
  created_at: z.string(),
  schema_version: z.literal(schemaVersion),
  run_id: z.int(),
  /** Digest of all that decides the content: the same fingerprint means nothing new to publish. */
  fingerprint: z.string(),
  row_counts: z.record(z.string(), z.int()),
  /** By path within the snapshot's folder; the manifest itself is not among them. */
  files: z.record(z.string(), z.object({ sha256: z.string(), bytes: z.int() })),
});
export type Manifest = z.output<typeof manifestSchema>;
