import { hash } from 'node:crypto';
import { z } from 'zod';
import { describeIssue } from '../../kit/config/describe-issue.ts';
import { describePlaces } from '../../kit/config/json-document.ts';
import { NewerDataError } from '../../kit/errors/newer-data.ts';

/** Version of the layout of snapshots that this code writes. */
export const schemaVersion = 3;
/** Versions that it serves, too: their feeds lack offers' sources and sites' terms over time. */
const olderServed = 2;
export const manifestFile = 'manifest.json';
export const analyticsFile = 'analytics.duckdb';
/** The folder with the key runs of its clicks. */
export const clickKeys = 'keys/clicks';
/** The folder with its clicks; a file's name begins with its day. */
export const clickEvents = 'events/clicks';
/** The folder with the tables of `analytics.duckdb` as Parquet files, for the lake and for readers without DuckDB. */
export const tablesFolder = 'tables';
export const tableFile = (name: string) => `${tablesFolder}/${name}.parquet`;

/** `manifest.json`: the snapshot's identity, and the size and SHA-256 of each of its files. */
export const manifestSchema = z.object({
  snapshot_id: z.string(),
  as_of: z.string(),
  created_at: z.string(),
  schema_version: z.literal([olderServed, schemaVersion]),
  run_id: z.int(),
  /** Digest of everything that the content depends on: an equal fingerprint means nothing new to publish. */
  fingerprint: z.string(),
  row_counts: z.record(z.string(), z.int()),
  /** State of postbacks, for `/metrics`; the fields of `sql/marts/delivery_summary.sql` and `delivery_sites.sql`. */
  deliveries: z.object({
    pending: z.int(),
    delivered: z.int(),
    dead: z.int(),
    attempts: z.int(),
    failed_attempts: z.int(),
    oldest_pending_at: z.string().nullable(),
    lag_seconds_p95: z.number().nullable(),
    /** Missing in a snapshot of an earlier version. */
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
  files: z.record(
    z.string(),
    z.object({
      sha256: z.string(),
      bytes: z.int(),
      /** Of Parquet files; missing in a snapshot of an earlier version. */
      rows: z.int().optional(),
    }),
  ),
});
export type Manifest = z.output<typeof manifestSchema>;

/** Returns the file's text. Its last field is the digest of the others, so that a changed byte shows. */
export function manifestText(manifest: Manifest): string {
  return `${JSON.stringify({ ...manifest, manifest_sha256: hash('sha256', JSON.stringify(manifest), 'hex') }, null, 1)}\n`;
}

/**
 * Parses the file's text. Throws `NewerDataError` for that of a newer version, JSON's error, or one that says what is
 * not as written.
 */
export function parseManifest(text: string): Manifest {
  const { manifest_sha256: _seal, ...written } = JSON.parse(text) as Manifest & { manifest_sha256: string };
  const found: number = written.schema_version;
  if (found > schemaVersion) throw new NewerDataError(`snapshot ${written.snapshot_id}`, found, schemaVersion);
  const { data: manifest, error } = manifestSchema.safeParse(written, { error: describeIssue });
  if (error !== undefined) throw new Error(`it is not as this version writes it:\n${describePlaces(error, text)}`);
  if (text !== manifestText(written)) throw new Error('its text is not as it was written');
  return manifest;
}
