import type { DuckDBConnection } from '@duckdb/node-api';
import type { CheckedFile } from '../landing/landing-file.ts';
import { QuarantineError } from '../landing/landing-file.ts';
import type { LogSchema } from '../landing/log-fields.ts';
import { loadRecords, ndjsonLines } from '../landing/records.ts';
import { insertRows } from '../warehouse/insert-rows.ts';

/** A log file of this run with its number in the ledger. */
export interface LogFile extends CheckedFile {
  fileId: number;
}

export interface LogBatch {
  files: LogFile[];
  /** SQL relation `(file_id, line, raw)` over all of them; `line` is NULL for lines, which are numbered only where a row is bad. */
  rows: string;
  /** Table `(file_id, line, raw)` of the records that came by way of it: those of CSV and Parquet. */
  records: string;
  /** Table `(file_id, path, position)` of all files in the order in which the first of equal events wins. */
  positions: string;
  quarantined: { file: LogFile; reason: string; detail: string }[];
}

/**
 * Makes one relation of a run's files of one log. Lines are read straight from their files; CSV and Parquet pass
 * through a temporary table as JSON, so that one parser sees them all. To be called outside of a transaction: a read
 * that fails would abort it, and with it all other files.
 */
export async function openLogBatch(connection: DuckDBConnection, schema: LogSchema, files: LogFile[]): Promise<LogBatch> {
  const records = `log_records_of_${schema.kind}`;
  const positions = `log_files_of_${schema.kind}`;
  await connection.run(`
    CREATE OR REPLACE TEMP TABLE ${records} (file_id BIGINT, line BIGINT, raw VARCHAR);
    CREATE OR REPLACE TEMP TABLE ${positions} (file_id BIGINT, path VARCHAR, position BIGINT)`);
  const batch: LogBatch = { files: [], rows: records, records, positions, quarantined: [] };
  const lineFiles: LogFile[] = [];
  for (const file of files) {
    try {
      if (isLines(file)) {
        if (file.bytes > 0) lineFiles.push(file);
      } else {
        await loadRecords(connection, file, file.fileId, records, schema.required);
      }
      batch.files.push(file);
    } catch (error) {
      if (!(error instanceof QuarantineError)) throw error;
      await connection.run(`DELETE FROM ${records} WHERE file_id = ${file.fileId}`);
      batch.quarantined.push({ file, reason: error.reason, detail: error.message });
    }
  }
  await insertRows(connection, `INSERT INTO ${positions}`, ['', '', ''], batch.files.map((file, position) => [file.fileId, file.readablePath, position]));
  if (lineFiles.length > 0) {
    batch.rows = `(SELECT file_id, NULL::BIGINT AS line, raw FROM ${ndjsonLines(lineFiles.map((file) => file.readablePath))} JOIN ${positions} USING (path)
      UNION ALL SELECT file_id, line, raw FROM ${records})`;
  }
  return batch;
}

/** JSON documents were unfolded to lines when they were checked. */
export function isLines(file: CheckedFile): boolean {
  return file.format === 'ndjson' || file.format === 'json';
}
