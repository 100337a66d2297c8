import type { DuckDBConnection } from '@duckdb/node-api';
import { eventKinds, type EventKind, type FileStatus, type LandingKind } from '../../../kit/vocabulary/values.ts';
import type { CheckedFile } from '../../landing/landing-file.ts';
import { quoted, quotedList } from '../../../kit/text/sql-text.ts';
import type { Moment } from '../../../kit/time/moment.ts';
import type { StateDatabase } from '../../warehouse/database.ts';
import { mappingDigest } from '../landing-mappings.ts';
import { queryRows } from '../../../kit/duckdb/dialect/rows.ts';
import { passedOver } from './warning-counts.ts';
import { logKey, maxRejectsKept, seenNs, type LedgerCounts, type SeenFile } from './ledger.ts';
import {
  limits,
  logReadingSettings,
  parseReadingSettings,
  rateOf,
  sourceSettings,
  type DecidingSettings,
  type ReadingSettings,
} from './reading-settings.ts';

/** A file's ledger row, where the file is read again. */
export interface LedgerRow extends LedgerCounts {
  file_id: number;
  run_id: number;
  kind: LandingKind;
  source: string | null;
  path: string;
  sha256: string;
  status: FileStatus;
  reason: string | null;
  ingested_at: Moment;
  read_with: string;
  /** Moment of the ingest, in nanoseconds since the epoch; not before the file was first seen. */
  seen_ns: string;
}

/** A file to be ingested: new, or read again where there is a `before`. */
export interface NewFile extends CheckedFile {
  /** The ledger's name for the bytes of a log is in it, and stays; they are read by their present `path`. */
  before?: LedgerRow;
}

/** Chooses from files of the landing folder those to be read again, by their path there. */
export type ReadAgain = (landed: readonly SeenFile[]) => Map<string, LedgerRow>;

/**
 * Returns what chooses the files that are in the landing folder as they were when they were ingested, and that mean
 * something else by the present configuration than by the one that they were read with: logs with rows that lacked a
 * time zone or of which no row fitted, files beyond a limit that is another now, logs that another mapping may heal,
 * catalogs whose source's time zone or mode has changed, or the rate of a currency that they name.
 */
export async function filesToReadAgain({ connection }: StateDatabase, settings: DecidingSettings): Promise<ReadAgain> {
  const logs = await logsReadOtherwise(connection, settings);
  const catalogs = await catalogsReadOtherwise(connection, settings);
  return (landed) =>
    new Map([...logsToReadAgain(logs, settings, landed), ...catalogsToReadAgain(catalogs, settings, landed)]);
}

const columns = `file_id, run_id, kind, source, path, sha256, rows, accepted, duplicates, conflicts, rejected, warnings, status, reason, ingested_at, read_with, ${seenNs} AS seen_ns`;

/** Log to be read again: certainly, for its limit or zone, or else where its mapping is another now. */
type LogRow = LedgerRow & { is_certain: boolean };

function logsReadOtherwise(connection: DuckDBConnection, settings: DecidingSettings): Promise<LogRow[]> {
  return queryRows<LogRow>(
    connection,
    `SELECT ${columns}, ${eventKinds.map((kind) => isReadOtherwise(kind, settings)).join(' OR ')} AS is_certain FROM ingest_files
     WHERE kind IN (${eventKinds.map(quoted).join(', ')}) AND (is_certain OR ${logsToMapAgain(settings)}) AND NOT (${isLoadedElsewhere})
     ORDER BY file_id`,
  );
}

function logsToReadAgain(
  rows: readonly LogRow[],
  settings: DecidingSettings,
  landed: readonly SeenFile[],
): [path: string, before: LedgerRow][] {
  if (rows.length === 0) return [];
  const logs = landed.filter(({ kind }) => kind !== 'offers');
  const byContent = Map.groupBy(
    logs.flatMap((file) =>
      (['loaded', 'quarantined'] as const).map((status) => ({ file, key: logKey(file, status, settings) })),
    ),
    ({ key }) => key,
  );
  // Log bytes count whatever their name: they may have another one by now.
  const pathOf = (row: LedgerRow): string | undefined => {
    const copies = byContent.get(logKey(row, row.status as 'loaded' | 'quarantined', settings)) ?? [];
    return (copies.find(({ file }) => file.path === row.path) ?? copies[0])?.file.path;
  };
  return rows.flatMap(({ is_certain, ...row }): [string, LedgerRow][] => {
    const path = pathOf(row);
    return path === undefined || (!is_certain && isMappedAlike(row, settings, path)) ? [] : [[path, row]];
  });
}

/** SQL that holds for the logs of a kind that the present limits and zone read in another way. */
function isReadOtherwise(kind: EventKind, settings: DecidingSettings): string {
  const { unpacked_gigabytes, time_zone } = logReadingSettings(settings, kind, '');
  // Of a file with more rejects than are kept it is unknown whether one of them lacked a zone.
  const lackedZone = `(read_with->>'time_zone') IS NULL AND (status = 'quarantined' AND split_part(reason, ':', 1) = 'no_row_fits'
    OR status = 'loaded' AND (rejected > ${maxRejectsKept} OR file_id IN (SELECT file_id FROM rejects WHERE reason = 'timestamp_without_offset')))`;
  return `(kind = '${kind}' AND (${beyondOtherLimit({ unpacked_gigabytes })} ${time_zone === null ? '' : `OR ${lackedZone}`}))`;
}

/**
 * SQL that holds for a quarantined log whose bytes are loaded under another path. Few digests are quarantined ones, and
 * the others need not be remembered.
 */
const isLoadedElsewhere = `status = 'quarantined' AND (kind, sha256) IN (SELECT (kind, sha256) FROM ingest_files
  WHERE status = 'loaded' AND sha256 IN (SELECT sha256 FROM ingest_files WHERE status = 'quarantined'))`;

/**
 * SQL that holds for the logs that another mapping may heal: it heals what was rejected, passed over or quarantined,
 * and finds what was not found. What was accepted stays as it is.
 */
function logsToMapAgain({ files }: DecidingSettings): string {
  return `((${files.length > 0} OR (read_with->>'mapping') IS NOT NULL)
      AND (status = 'quarantined' OR status = 'loaded' AND rows = 0 OR rejected > 0 OR file_id IN (SELECT file_id FROM ingest_warnings WHERE warning = '${passedOver}')))`;
}

function isMappedAlike({ read_with }: LedgerRow, settings: DecidingSettings, path: string): boolean {
  return (parseReadingSettings(read_with).mapping ?? null) === mappingDigest(settings, path);
}

/** SQL that holds for a file that was quarantined for a limit which is another now. */
function beyondOtherLimit(now: Pick<ReadingSettings, 'unpacked_gigabytes'>): string {
  const changed = Object.entries(limits).map(
    ([reason, limit]) =>
      `split_part(reason, ':', 1) = ${quoted(reason)} AND (read_with->>${quoted(limit)})::DOUBLE <> ${now[limit]}`,
  );
  return `(status = 'quarantined' AND (${changed.join(' OR ')}))`;
}

interface CatalogRow extends LedgerRow {
  source: string;
  /** It was quarantined for a limit which is another now. */
  is_beyond_other: boolean;
}

function catalogsReadOtherwise(connection: DuckDBConnection, settings: DecidingSettings): Promise<CatalogRow[]> {
  const deltas = Object.keys(settings.sources).filter((source) => sourceSettings(settings, source).mode === 'delta');
  const isBeyondOther = beyondOtherLimit(settings);
  return queryRows<CatalogRow>(
    connection,
    `SELECT ${columns}, ${isBeyondOther} AS is_beyond_other FROM ingest_files
     WHERE kind = 'offers' AND (status IN ('loaded', 'held') OR ${isBeyondOther} OR status = 'quarantined' AND (${settings.files.length > 0} OR (read_with->>'mapping') IS NOT NULL))
     QUALIFY status <> 'loaded' OR source IN (SELECT unnest(${quotedList(deltas)}::VARCHAR[])) OR row_number() OVER (PARTITION BY source, status ORDER BY file_id DESC) = 1
     ORDER BY file_id`,
  );
}

function catalogsToReadAgain(
  rows: readonly CatalogRow[],
  settings: DecidingSettings,
  landed: readonly SeenFile[],
): [path: string, before: LedgerRow][] {
  const digests = new Map(landed.filter(({ kind }) => kind === 'offers').map(({ path, sha256 }) => [path, sha256]));
  return [...Map.groupBy(rows, ({ source }) => source)].flatMap(([source, ofSource]) => {
    const latest = new Map(ofSource.map((row) => [row.path, row]));
    const isLanded = (row: CatalogRow) => latest.get(row.path) === row && digests.get(row.path) === row.sha256;
    const saysOtherNow = (row: CatalogRow) => saysOther(row, settings, ofSource);
    const again =
      sourceSettings(settings, source).mode === 'full'
        ? ofSource.filter((row) => isLanded(row) && saysOtherNow(row))
        : fromFirstChange(ofSource, isLanded, saysOtherNow);
    return again.map((row): [string, LedgerRow] => [row.path, row]);
  });
}

/** Returns whether the present configuration may read a catalog file in another way than it was read. */
function saysOther(row: CatalogRow, settings: DecidingSettings, ofSource: readonly CatalogRow[]): boolean {
  const { file_id, source, status, read_with } = row;
  const { mode, time_zone = null } = sourceSettings(settings, source);
  if (!isMappedAlike(row, settings, row.path)) return true;
  // What a full export would remove a delta leaves.
  if (status !== 'loaded') return status === 'quarantined' ? row.is_beyond_other : mode === 'delta';
  const before = parseReadingSettings(read_with);
  if (
    before.time_zone !== time_zone ||
    Object.entries(before.rates ?? {}).some(([currency, rate]) => rate !== rateOf(settings, currency))
  )
    return true;
  // A delta that turned out to be a full export decides, unless one after it waits for an operator who is to say
  // whether it does.
  return (
    before.mode === 'delta' &&
    mode === 'full' &&
    !ofSource.some((other) => other.status === 'held' && other.file_id > file_id)
  );
}

/**
 * Returns the files of a delta source to be read again, in the order of their ingest: from the first one that says
 * something else on, so that later files still decide. Where one of these is gone, only those after
 * it; and none from before the source became a delta, of which the last one decided.
 */
function fromFirstChange(
  rows: readonly CatalogRow[],
  isLanded: (row: CatalogRow) => boolean,
  saysOtherNow: (row: CatalogRow) => boolean,
): CatalogRow[] {
  const from = rows.findLastIndex(
    (row) => row.status === 'loaded' && (parseReadingSettings(row.read_with).mode === 'full' || !isLanded(row)),
  );
  const readable = rows
    .slice(from < 0 ? 0 : from)
    .filter((row) => isLanded(row) && (row.status === 'loaded' || saysOtherNow(row)));
  const first = readable.findIndex(saysOtherNow);
  return first < 0 ? [] : readable.slice(first);
}
