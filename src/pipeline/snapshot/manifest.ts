import { hash } from 'node:crypto';
import { z } from 'zod';

/** The layout of snapshots that this code writes and serves. A service leaves other versions alone. */
export const schemaVersion = 2;
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
  /** How postbacks stand, for `/metrics`: `sql/marts/delivery_summary.sql` and `delivery_sites.sql` tell the fields. */
  deliveries: z.object({
    pending: z.int(),
    delivered: z.int(),
    dead: z.int(),
    attempts: z.int(),
    failed_attempts: z.int(),
    oldest_pending_at: z.string().nullable(),
    lag_seconds_p95: z.number().nullable(),
    /** None in a snapshot of an earlier version. */
    sites: z
      .array(
        z.object({
          site_key: z.string(),
          waiting: z.int(),
          failing: z.int(),
          dead: z.int(),
          oldest_waiting_at: z.string().nullable(),
        }),
      )
      .default([]),
  }),
  /** By path within the snapshot's folder; the manifest itself is not among them. */
  files: z.record(z.string(), z.object({ sha256: z.string(), bytes: z.int() })),
});
export type Manifest = z.output<typeof manifestSchema>;

/**
 * The file's text. Its last field is the digest of the others, so that the manifest too tells when a byte of it is not
 * as it was written.
 */
export function manifestText(manifest: Manifest): string {
  return `${JSON.stringify({ ...manifest, manifest_sha256: hash('sha256', JSON.stringify(manifest), 'hex') }, null, 1)}\n`;
}

/** Reads the file's text. Throws zod's error, JSON's, or one that says that the text is not as it was written. */
export function parseManifest(text: string): Manifest {
  const { manifest_sha256: _seal, ...written } = JSON.parse(text) as Manifest & { manifest_sha256: string };
  const manifest = manifestSchema.parse(written);
  if (text !== manifestText(written)) throw new Error('its text is not as it was written');
  return manifest;
}
