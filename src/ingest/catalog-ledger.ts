import type { DuckDBConnection } from '@duckdb/node-api';
import type { CheckedFile, LandingRecord } from '../landing/landing-file.ts';
import { momentOfMilliseconds, type Moment } from '../stage/as-of.ts';
import { insertFrom, type Shape } from './catalog-bulk-insert.ts';
import type { CatalogExport } from './catalog-export.ts';
import { rejectsKept, type FileStatus, type LedgerCounts } from './ledger.ts';

/** One row of the ledger of landing files: rows = accepted + duplicates + rejected. */
export interface CatalogLedgerEntry extends LedgerCounts {
  file_id: number;
  run_id: number;
  kind: 'offers';
  source: string;
  path: string;
  sha256: string;
  bytes: number;
  /** Nanoseconds since the epoch, as text: they exceed what a JSON number holds. */
  modified_ns: string;
  status: FileStatus;
  reason: string | null;
  ingested_at: Moment;
}

const entryShape: Shape<CatalogLedgerEntry> = {
  file_id: 'BIGINT', run_id: 'BIGINT', kind: 'VARCHAR', source: 'VARCHAR', path: 'VARCHAR', sha256: 'VARCHAR', bytes: 'BIGINT', modified_ns: 'BIGINT',
  rows: 'BIGINT', accepted: 'BIGINT', duplicates: 'BIGINT', conflicts: 'BIGINT', rejected: 'BIGINT', warnings: 'BIGINT', status: 'VARCHAR',
  reason: 'VARCHAR', ingested_at: 'VARCHAR',
};

interface RejectRow extends LandingRecord {
  file_id: number;
  path: string;
  reason: string;
}

const rejectShape: Shape<RejectRow> = { file_id: 'BIGINT', path: 'VARCHAR', line: 'BIGINT', reason: 'VARCHAR', raw: 'VARCHAR' };

interface WarningRow {
  file_id: number;
  warning: string;
  field: string | null;
  rows: number;
}

const warningShape: Shape<WarningRow> = { file_id: 'BIGINT', warning: 'VARCHAR', field: 'VARCHAR', rows: 'BIGINT' };

/** What became of the catalog files of one run, gathered and then written in bulk. */
export class CatalogLedger {
  readonly entries: CatalogLedgerEntry[] = [];
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

  /** A file of which no row counts. */
  unread(file: CheckedFile, status: 'quarantined' | 'superseded', reason: string): void {
    this.#add(file, { rows: 0, accepted: 0, duplicates: 0, conflicts: 0, rejected: 0, warnings: 0, status, reason });
  }

  /** A file that was read, whether it changed the catalog or is held. */
  read(catalog: CatalogExport, status: 'loaded' | 'held', reason: string | null): void {
    const { file, rows, accepted, duplicates, conflicts, rejected, warnings } = catalog;
    const fileId = this.#add(file, {
      rows, accepted: accepted.length, duplicates, conflicts, rejected: rejected.length, warnings: warnings.total, status, reason,
    });
    for (const reject of rejected.slice(0, rejectsKept)) this.#rejects.push({ file_id: fileId, path: file.path, reason: reject.reason, ...reject.record });
    for (const warning of warnings.list()) this.#warnings.push({ file_id: fileId, ...warning });
  }

  async write(connection: DuckDBConnection): Promise<void> {
    await insertFrom(connection, entryShape, this.entries, 'INSERT INTO ingest_files BY NAME SELECT * FROM rows');
    await insertFrom(connection, rejectShape, this.#rejects, 'INSERT INTO rejects BY NAME SELECT * FROM rows');
    await insertFrom(connection, warningShape, this.#warnings, 'INSERT INTO ingest_warnings BY NAME SELECT * FROM rows');
  }

  #add(file: CheckedFile, rest: LedgerCounts & Pick<CatalogLedgerEntry, 'status' | 'reason'>): number {
    const file_id = this.#nextFileId();
    this.entries.push({
      file_id, run_id: this.#runId, kind: 'offers', source: file.source ?? '', path: file.path, sha256: file.sha256, bytes: file.bytes,
      modified_ns: file.modifiedNs.toString(), ...rest, ingested_at: momentOfMilliseconds(this.#wallClock.getTime()),
    });
    return file_id;
  }
}
