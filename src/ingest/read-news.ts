import type { DuckDBConnection } from '@duckdb/node-api';
import { QuarantineError, type CheckedFile } from '../landing/landing-file.ts';
import { clickSchema, conversionSchema, type LogSchema } from '../landing/log-fields.ts';
import { readRecords } from '../landing/records.ts';
import type { Run } from '../stage/stage.ts';
import type { StateDatabase } from '../warehouse/database.ts';
import { queryRows } from '../warehouse/dialect/rows.ts';
import type { BrokenFile } from './ingest-log.ts';
import { openLogBatch, type LogBatch } from './log-batch.ts';

/** Landing files whose bytes do not count yet. */
export interface NewContent {
  readable: CheckedFile[];
  broken: BrokenFile[];
}

export interface OpenedLog {
  schema: LogSchema;
  batch: LogBatch;
  broken: BrokenFile[];
}

/** A run's new files, read as far as it takes to know that each of them is whole. */
export interface News {
  /** How many files there are, whatever becomes of them. */
  files: number;
  catalogs: NewContent;
  clicks: OpenedLog;
  conversions: OpenedLog;
  /** The next number in the ledger. */
  nextFileId: () => number;
}

/** Columns without which a catalog with a header is none. */
export const catalogColumns = ['external_id', 'title'];

/**
 * Lets DuckDB read what only it can tell to be whole: CSV and Parquet. This comes before the run's transaction, since a
 * statement that fails aborts the whole of it, and one damaged file would keep all the others out, run after run.
 */
export async function readNews(run: Run, state: StateDatabase, { readable, broken }: NewContent): Promise<News> {
  const { connection } = state;
  const [last] = await queryRows<{ file_id: number | null }>(connection, 'SELECT max(file_id) AS file_id FROM ingest_files');
  let fileId = last?.file_id ?? 0;
  const nextFileId = () => ++fileId;
  const catalogs: NewContent = { readable: [], broken: broken.filter(({ file }) => file.kind === 'offers') };
  for (const file of readable.filter(({ kind }) => kind === 'offers')) {
    const problem = await problemOf(connection, file);
    if (problem === undefined) catalogs.readable.push(file);
    else catalogs.broken.push({ file, reason: problem.reason, detail: problem.message });
  }
  const open = async (kind: 'clicks' | 'conversions'): Promise<OpenedLog> => {
    const reading = { wallClock: run.wallClock, timeZone: run.settings.logs[kind].time_zone };
    const schema = kind === 'clicks' ? clickSchema(reading) : conversionSchema(reading);
    const files = readable.filter((file) => file.kind === kind).map((file) => ({ ...file, fileId: nextFileId() }));
    return { schema, batch: await openLogBatch(connection, schema, files), broken: broken.filter(({ file }) => file.kind === kind) };
  };
  return { files: readable.length + broken.length, catalogs, clicks: await open('clicks'), conversions: await open('conversions'), nextFileId };
}

/** Why a catalog cannot be read whole. It is read again when its turn comes: the older ones of a run are often not needed. */
async function problemOf(connection: DuckDBConnection, file: CheckedFile): Promise<QuarantineError | undefined> {
  if (file.format !== 'csv' && file.format !== 'parquet') return undefined;
  try {
    await readRecords(connection, file, catalogColumns);
    return undefined;
  } catch (error) {
    if (error instanceof QuarantineError) return error;
    throw error;
  }
}
