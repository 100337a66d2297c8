import { hash } from 'node:crypto';
import { z } from 'zod';
import { describeIssue } from '../../kit/config/describe-issue.ts';
import { describePlaces } from '../../kit/config/json-document.ts';
import { packageFile, packageVersion } from '../../kit/files/package-files.ts';
import { OfferlineError, UsageError } from '../../kit/errors/errors.ts';
import { migrationFiles } from '../../kit/files/migration-files.ts';
import { schemaVersion } from '../snapshot/manifest.ts';
import { migrationsFolder } from '../warehouse/migrations.ts';
import { backupManifestFile } from './unfinished-restore.ts';

/** Version of the layout of backups that this code writes and restores. */
export const backupVersion = 1;

/** A backup cannot be used: it is cut, changed, or none of ours. */
export class BrokenBackupError extends OfferlineError {}

/** A path within the data directory: names alone, none of which is hidden from its owner or leads out. */
const memberPath = z
  .string()
  .refine((path) => path.split('/').every((name) => name !== '' && name !== '.' && name !== '..'), {
    error: 'leads out of the data directory',
  })
  .refine((path) => !path.includes('\0'), { error: 'has a NUL' });

const memberSchema = z.object({
  path: memberPath,
  bytes: z.int().min(0),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** Permission bits of the file. */
  mode: z.int().min(0).max(0o777),
  /** Nanoseconds since the epoch: among catalogs the newest decides. */
  modified_ns: z.string().regex(/^\d{1,20}$/),
  /** An earlier member with the same bytes, which the archive has once; restored as a hard link. */
  same_as: memberPath.optional(),
});
/** A file of the backup. */
export type BackupMember = z.output<typeof memberSchema>;

/** Newest migration of each store that the writing program knew, and its version of snapshots. */
const schemasSchema = z.object({ state: z.int(), deliveries: z.int(), pulls: z.int(), snapshot: z.int() });

const manifestSchema = z.object({
  format: z.literal('offerline-backup'),
  version: z.literal(backupVersion),
  /** Version of offerline that wrote it. */
  offerline: z.string(),
  /** Moment up to which clicks, reports and deliveries are in it. */
  created_at: z.string(),
  /** Last run of the state. */
  run_id: z.int(),
  /** Of the published snapshot; null where nothing was published. */
  as_of: z.string().nullable(),
  snapshot_id: z.string().nullable(),
  /** `needed`: landing files that something still reads; `all`: every one. */
  landing: z.enum(['needed', 'all']),
  schemas: schemasSchema,
  /** What a restored directory needs beside it, in words. */
  not_included: z.array(z.string()),
  members: z.array(memberSchema),
  /** Symbolic links by path; each leads to a name in its own folder. */
  links: z.record(memberPath, z.string().regex(/^[\w.-]+$/)),
});
export type BackupManifest = z.output<typeof manifestSchema>;

/** Returns the manifest's text; its last field is the digest of the others, so that a changed byte shows. */
export function backupManifestText(manifest: BackupManifest): string {
  const seal = hash('sha256', JSON.stringify(manifest), 'hex');
  return `${JSON.stringify({ ...manifest, manifest_sha256: seal }, null, 1)}\n`;
}

/**
 * Parses the manifest's text. `place`: the backup, for errors. Throws `BrokenBackupError` for a text that is not as
 * written, `UsageError` for one that a newer program wrote.
 */
export function parseBackupManifest(text: string, place: string): BackupManifest {
  let written: Record<string, unknown>;
  let seal: unknown;
  try {
    ({ manifest_sha256: seal, ...written } = JSON.parse(text) as Record<string, unknown>);
  } catch (error) {
    throw new BrokenBackupError(`${place} is broken: ${backupManifestFile} is no JSON`, undefined, { cause: error });
  }
  if (hash('sha256', JSON.stringify(written), 'hex') !== seal)
    throw new BrokenBackupError(`${place} is broken: ${backupManifestFile} is not as it was written`);
  assertKnownVersion(written, place);
  const { data, error } = manifestSchema.safeParse(written, { error: describeIssue });
  if (data === undefined)
    throw new BrokenBackupError(`${place} is broken: ${backupManifestFile}:\n${describePlaces(error, text)}`);
  return data;
}

function assertKnownVersion(written: Record<string, unknown>, place: string): void {
  const {
    version,
    offerline,
    schemas = {},
  } = written as {
    version?: number;
    offerline?: string;
    schemas?: Record<string, number>;
  };
  const newer = (what: string, found: unknown, known: number) =>
    new UsageError(
      `${place} was written by ${offerline === undefined ? 'a newer version of offerline' : `offerline ${offerline}`} (${what} ${String(found)}); this is offerline ${packageVersion()}, which knows ${known}: restore it with that version`,
    );
  if (Number(version) > backupVersion) throw newer('format', version, backupVersion);
  for (const [name, known] of Object.entries(knownSchemas()))
    if (Number(schemas[name]) > known) throw newer(`schema of ${name}`, schemas[name], known);
}

/** Returns the newest migration of each store that this program knows, and its version of snapshots. */
export function knownSchemas(): BackupManifest['schemas'] {
  const newest = (folder: string) => migrationFiles(folder).at(-1)?.number ?? 0;
  return {
    state: newest(migrationsFolder),
    deliveries: newest(packageFile('sql/delivery')),
    pulls: newest(packageFile('sql/pulls')),
    snapshot: schemaVersion,
  };
}
