import type { DuckDBConnection } from '@duckdb/node-api';
import type { FileStatus } from '../../../kit/vocabulary/values.ts';
import { momentOfMilliseconds, type Moment } from '../../../kit/time/moment.ts';
import { runWithRows } from '../../../kit/duckdb/insert-rows.ts';
import { insertInto, textShape } from '../../warehouse/insert-into.ts';
import { kyselyOn } from '../../warehouse/kysely.ts';
import type { CatalogExport, RejectedRow } from './catalog-export.ts';
import { maxRejectsKept, type LedgerCounts } from '../ledger/ledger.ts';
import type { NewFile, LedgerRow } from '../ledger/read-again.ts';
import type { ReadingSettings } from '../ledger/reading-settings.ts';

/** Row of the ledger of landing files: rows = accepted + duplicates + rejected. */
export interface CatalogLedgerEntry extends LedgerCounts {
  file_id: number;
  run_id: number;
  kind: 'offers';
  source: string;
  path: string;
  sha256: string;
  bytes: number;
  modified_ns: bigint;
  status: FileStatus;
  reason: string | null;
  ingested_at: Moment;
  /** JSON of a `ReadingSettings`. */
  read_with: string;
}

interface RejectRow extends RejectedRow {
  file_id: number;
  path: string;
}

interface WarningRow {
  file_id: number;
  warning: string;
  field: string | null;
  rows: number;
}

/** Ledger rows, rejects and warnings of one run's catalog files, gathered and then written in bulk. */
export class CatalogLedger {
  /** Rows of new files. */
  readonly entries: CatalogLedgerEntry[] = [];
  /** Rows of files that were read again, which are updated. */
  readonly #again: { entry: CatalogLedgerEntry; before: LedgerRow }[] = [];
  readonly #rejects: RejectRow[] = [];
  readonly #warnings: WarningRow[] = [];
  readonly #runId: number;
  readonly #wallClock: Date;
  readonly #nextFileId: () => number;

  constructor(runId: number, wallClock: Date, nextFileId: () => number) {
    this.#runId = runId;
    this.#wallClock = wallClock;
    this.#nextFileId = nextFileId;
  }

  /** A file of which no row counts. Of one that was loaded before, what it said then stays. */
  unread(file: NewFile, status: 'quarantined' | 'superseded', reason: string, readWith: ReadingSettings): void {
    if (file.before?.status === 'loaded') return;
    this.#add(
      file,
      { rows: 0, accepted: 0, duplicates: 0, conflicts: 0, rejected: 0, warnings: 0, status, reason },
      readWith,
    );
  }

  /** A file that was read, whether it changed the catalog or is held. */
  read(catalog: CatalogExport, status: 'loaded' | 'held', reason: string | null, readWith: ReadingSettings): void {
    const { file, rows, accepted, unchanged, overruled, duplicates, conflicts, rejected, rejectedRows, warnings } =
      catalog;
    const fileId = this.#add(
      file,
      {
        rows,
        accepted: accepted.length + unchanged.size + overruled,
        duplicates,
        conflicts,
        rejected,
        warnings: warnings.total,
        status,
        reason,
      },
      readWith,
    );
    for (const row of rejectedRows.slice(0, maxRejectsKept))
      this.#rejects.push({ file_id: fileId, path: file.path, ...row });
    for (const warning of warnings.list()) this.#warnings.push({ file_id: fileId, ...warning });
  }

  /** Returns whether a file that was read again says something else than before. */
  async write(connection: DuckDBConnection): Promise<boolean> {
    const changed = await this.#makeWay(connection);
    await insertInto(connection, 'ingest_files', this.entries);
    await insertInto(connection, 'rejects', this.#rejects);
    await insertInto(connection, 'ingest_warnings', this.#warnings);
    return changed;
  }

  async #makeWay(connection: DuckDBConnection): Promise<boolean> {
    if (this.#again.length === 0) return false;
    const db = kyselyOn(connection);
    const ids = this.#again.map(({ entry }) => entry.file_id);
    const rejectsBefore = await db
      .selectFrom('rejects')
      .select(['file_id', 'line', 'reason'])
      .where('file_id', 'in', ids)
      .execute();
    for (const table of ['rejects', 'ingest_warnings'] as const)
      await db.deleteFrom(table).where('file_id', 'in', ids).execute();
    const entries = this.#again.map(({ entry }) => entry);
    await runWithRows(
      connection,
      textShape(entries),
      entries,
      `UPDATE ingest_files SET ${updated.map((column) => `${column} = rows.${column}`).join(', ')} FROM rows WHERE ingest_files.file_id = rows.file_id::BIGINT`,
    );
    const named = (rows: readonly Pick<RejectRow, 'file_id' | 'line' | 'reason'>[]) =>
      rows
        .map(({ file_id, line, reason }) => `${file_id} ${line} ${reason}`)
        .toSorted()
        .join('\n');
    const again = new Set(this.#again.map(({ entry }) => entry.file_id));
    return (
      named(rejectsBefore) !== named(this.#rejects.filter(({ file_id }) => again.has(file_id))) ||
      this.#again.some(({ entry, before }) => shown.some((column) => entry[column] !== before[column]))
    );
  }

  #add(
    file: NewFile,
    rest: LedgerCounts & Pick<CatalogLedgerEntry, 'status' | 'reason'>,
    readWith: ReadingSettings,
  ): number {
    const { before } = file;
    // What was not loaded before is ingested by this run.
    const ingested =
      before?.status === 'loaded'
        ? before
        : { run_id: this.#runId, ingested_at: momentOfMilliseconds(this.#wallClock.getTime()) };
    const entry: CatalogLedgerEntry = {
      file_id: before?.file_id ?? this.#nextFileId(),
      run_id: ingested.run_id,
      kind: 'offers',
      source: file.source ?? '',
      path: file.path,
      sha256: file.sha256,
      bytes: file.bytes,
      modified_ns: file.modifiedNs,
      ...rest,
      ingested_at: ingested.ingested_at,
      read_with: JSON.stringify(readWith),
    };
    if (before === undefined) this.entries.push(entry);
    else this.#again.push({ entry, before });
    return entry.file_id;
  }
}

/** Published columns that another reading of a file may change. */
const shown = [
  'run_id',
  'rows',
  'accepted',
  'duplicates',
  'conflicts',
  'rejected',
  'warnings',
  'status',
  'reason',
  'ingested_at',
] as const;
const updated = [...shown, 'modified_ns', 'read_with'] as const;
