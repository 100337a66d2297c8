import { sql } from 'kysely';
import { columnsOfPath } from '../../landing/lines/file-lines.ts';
import { partitionsOf } from '../../landing/lines/hive-partitions.ts';
import { isParquetName } from '../../../kit/vocabulary/landing-formats.ts';
import type { FileStatus } from '../../../kit/vocabulary/values.ts';
import type { CheckedFile, LandingFile } from '../../landing/landing-file.ts';
import type { Run } from '../../runs/stage.ts';
import type { StateDatabase } from '../../warehouse/database.ts';
import { insertInto } from '../../warehouse/insert-into.ts';
import { landingMapping, type MappingSettings } from '../landing-mappings.ts';
import { parseReadingSettings, type ReadingSettings } from './reading-settings.ts';

/** rows = accepted + duplicates + rejected; conflicts are among the duplicates, warnings change no count. */
export interface LedgerCounts {
  rows: number;
  accepted: number;
  duplicates: number;
  conflicts: number;
  rejected: number;
  warnings: number;
}

/**
 * A file of nothing but bad rows would fill the warehouse with itself: so many of its first rejected rows are kept, all
 * are counted.
 */
export const maxRejectsKept = 1000;

/** Unknown field names are listed up to this number a file, and counted beyond it. */
export const maxUnknownFieldsNamed = 20;
/** Limit of the unknown fields that are counted: a file of made-up names would fill the memory. */
export const maxUnknownFieldsCounted = 100_000;
/** A longer name of a field is cut. */
export const maxFieldNameCharacters = 100;

/** Reason of a quarantine that ends once the file is touched: its bytes may be fine, and the memory was not. */
export const endedARun = 'ended_a_run';

/**
 * SQL for the moment when a file of the ledger was first seen, in nanoseconds since the epoch, as text. A run may wait
 * for another before it looks, so that what it ingests may be younger than its start.
 */
export const seenNs = 'greatest(modified_ns, epoch_ns(ingested_at))::VARCHAR';

/** What the ledger says of a landing file. */
interface RecordedFile {
  file: CheckedFile & { fileId: number };
  counts: LedgerCounts;
  status: FileStatus;
  reason: string | null;
  readWith: ReadingSettings;
}

/** Writes a landing file's ledger row. */
export async function recordFile(
  { db }: StateDatabase,
  run: Run,
  { file, counts, status, reason, readWith }: RecordedFile,
): Promise<void> {
  await db
    .insertInto('ingest_files')
    .values({
      file_id: file.fileId,
      run_id: run.runId,
      kind: file.kind,
      source: file.source,
      path: file.path,
      sha256: file.sha256,
      bytes: file.bytes,
      modified_ns: file.modifiedNs,
      ...counts,
      status,
      reason,
      ingested_at: run.wallClock,
      read_with: JSON.stringify(readWith),
    })
    .execute();
}

/** Files that changed in the last two seconds before we looked may change again within the clock's grain, unseen. */
const stableAfterNs = 2_000_000_000n;

/** A landing file that looks as it did when its bytes were read, and their digest. */
export interface SeenFile extends LandingFile {
  sha256: string;
}

/** Landing files that are not new by name, size and times: their bytes need not be read. */
export async function seenFiles({ db }: StateDatabase, files: readonly LandingFile[]): Promise<SeenFile[]> {
  const rows = await db
    .selectFrom('landing_seen')
    .select((file) => [
      'path',
      'bytes',
      file.cast<string>('modified_ns', 'text').as('modified_ns'),
      file.cast<string>('changed_ns', 'text').as('changed_ns'),
      'sha256',
    ])
    .execute();
  const known = new Map(rows.map(({ path, ...about }) => [path, about]));
  return files.flatMap((file): SeenFile[] => {
    const before = known.get(file.path);
    const looksTheSame =
      before !== undefined &&
      before.bytes === file.bytes &&
      before.modified_ns === String(file.modifiedNs) &&
      before.changed_ns === String(file.changedNs);
    return looksTheSame ? [{ ...file, sha256: before.sha256 }] : [];
  });
}

/** Paths of the landing folder whose files were read once, whatever they looked like then. */
export async function seenPaths({ db }: StateDatabase): Promise<Set<string>> {
  const rows = await db.selectFrom('landing_seen').select('path').execute();
  return new Set(rows.map(({ path }) => path));
}

/** Remembers what the files looked like, so that the next run need not read them again. */
export async function rememberFiles(
  { connection }: StateDatabase,
  files: CheckedFile[],
  wallClockMs: number,
): Promise<void> {
  const stableBefore = BigInt(Math.trunc(wallClockMs)) * 1_000_000n - stableAfterNs;
  await insertInto(
    connection,
    'landing_seen',
    files.map((file) => ({
      path: file.path,
      bytes: file.bytes,
      modified_ns: file.modifiedNs,
      changed_ns: file.changedNs < stableBefore ? file.changedNs : 0n,
      sha256: file.sha256,
    })),
    { replacing: ['path'] },
  );
}

/**
 * Identifies what a log's bytes say: of Parquet, as its name shows it, with the columns that its path gives it. Ones
 * that could not be read may lack columns that a path names, or a mapping that is for it (`mapping`: its digest), so
 * that they count once they lie under the right one.
 */
export function logKey(
  { kind, sha256, path, mapping = null }: LogBytes,
  status: 'loaded' | 'quarantined',
  settings: MappingSettings,
): string {
  if (status === 'quarantined') return JSON.stringify([kind, sha256, partitionsOf(path), mapping]);
  const columns = isParquetName(path) ? columnsOfPath({ kind, path }, landingMapping(settings, path)) : [];
  return JSON.stringify([kind, sha256, ...columns.map(({ name, value }) => JSON.stringify([name, value])).toSorted()]);
}

interface LogBytes extends Pick<LandingFile, 'kind' | 'path'> {
  sha256: string;
  mapping?: string | null | undefined;
}

/** SQL that is true of files that were read to their end. */
const wasRead = sql<boolean>`NOT coalesce(starts_with(reason, ${endedARun}), false)`;

/** Keys of the logs' bytes that count already, whatever their names: of bytes that these files have. */
export async function knownLogs(
  { db }: StateDatabase,
  settings: MappingSettings,
  files: readonly Pick<CheckedFile, 'sha256'>[],
): Promise<Set<string>> {
  if (files.length === 0) return new Set();
  const rows = await db
    .selectFrom('ingest_files')
    .select(['kind', 'sha256', 'path', 'read_with'])
    // A log is neither held nor superseded.
    .select((file) => file.ref('status').$castTo<'loaded' | 'quarantined'>().as('status'))
    .where('kind', '<>', 'offers')
    .where(wasRead)
    .where(sql<boolean>`sha256 IN (SELECT unnest(${files.map(({ sha256 }) => sha256)}::VARCHAR[]))`)
    .execute();
  return new Set(
    rows.map(({ status, read_with, ...file }) =>
      logKey({ ...file, mapping: parseReadingSettings(read_with).mapping }, status, settings),
    ),
  );
}

/**
 * The digest that each catalog path had when it was last ingested, where a file is a catalog: the same bytes under the
 * same name change nothing.
 */
export async function latestCatalogDigests(
  { db }: StateDatabase,
  files: readonly Pick<CheckedFile, 'kind'>[],
): Promise<Map<string, string>> {
  if (!files.some(({ kind }) => kind === 'offers')) return new Map();
  const rows = await db
    .selectFrom('ingest_files')
    .select(['path', 'sha256'])
    .distinctOn('path')
    .where('kind', '=', 'offers')
    .where(wasRead)
    .orderBy('path')
    .orderBy('file_id', 'desc')
    .execute();
  return new Map(rows.map(({ path, sha256 }) => [path, sha256]));
}
