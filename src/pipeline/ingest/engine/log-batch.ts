import type { DuckDBConnection } from '@duckdb/node-api';
import type { CheckedFile } from '../../landing/landing-file.ts';
import type { LogSchema } from '../../landing/logs/log-fields.ts';
import { logRows } from '../../landing/logs/log-parser.ts';
import { makeEmptyTempTable, type TempTable } from '../../../kit/duckdb/temp-table.ts';
import { insertRows } from '../../../kit/duckdb/insert-rows.ts';
import type { StateRowCounts } from '../states/state-events.ts';
import { hopelessLogs } from './hopeless-log.ts';
import { openEach } from '../open-each.ts';
import type { NewFile } from '../ledger/read-again.ts';

/** A log file of this run with its number in the ledger. */
export interface LogBatchFile extends NewFile {
  fileId: number;
  /** Of a file of states: what became of its rows. */
  states?: StateRowCounts | undefined;
}

export interface LogBatch {
  files: LogBatchFile[];
  /** SQL relations over all of them, as `logRows` gives them. */
  rows: string[];
  /** Table `(file_id, path, position)` of all files in the order in which the first of equal events wins. */
  positions: TempTable<`log_files_of_${LogSchema['kind']}`>;
  quarantined: { file: LogBatchFile; reason: string; detail: string }[];
}

/**
 * Makes relations of a run's files of one log. `withLines` gives a file with its lines known, or throws
 * `QuarantineError`: a file that throws, or of which nothing fits, is quarantined.
 */
export async function openLogBatch(
  connection: DuckDBConnection,
  schema: LogSchema,
  files: LogBatchFile[],
  withLines: (file: LogBatchFile) => Promise<CheckedFile>,
): Promise<LogBatch> {
  const positions = await makeEmptyTempTable(
    connection,
    `log_files_of_${schema.kind}` as const,
    'file_id BIGINT, path VARCHAR, position BIGINT',
  );
  const { opened, broken } = await openEach(files, async (file): Promise<LogBatchFile> => ({
    ...file,
    ...(await withLines(file)),
  }));
  const hopeless = await hopelessLogs(connection, schema, opened);
  const readable = opened.filter((file) => hopeless.every((other) => other.file !== file));
  await insertRows(
    connection,
    positions,
    { file_id: 'BIGINT', path: 'VARCHAR', position: 'BIGINT' },
    readable.map((file, position) => ({ file_id: file.fileId, path: file.readablePath, position })),
  );
  const rows = logRows(
    readable.filter(({ bytes }) => bytes > 0),
    positions,
  );
  return { files: readable, rows, positions, quarantined: [...broken, ...hopeless] };
}
