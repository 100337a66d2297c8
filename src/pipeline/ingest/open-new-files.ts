import { join } from 'node:path';
import { fileLines } from '../landing/lines/file-lines.ts';
import type { KnownColumns } from '../landing/lines/parquet-columns.ts';
import { QuarantineError, type CheckedFile } from '../landing/landing-file.ts';
import { clickSchema, conversionSchema } from '../landing/logs/log-fields.ts';
import { landingMapping } from './landing-mappings.ts';
import { compareAge } from './catalog/catalog-files.ts';
import { isStateFile, openStateFiles } from './states/open-state-files.ts';
import type { Run } from '../runs/stage.ts';
import { requiredOfferFields } from '../landing/lines/record-names.ts';
import { landingFieldNames } from '../../kit/vocabulary/offer-fields.ts';
import type { StateDatabase } from '../warehouse/database.ts';
import { fitThreads } from '../warehouse/small-warehouse.ts';
import { queryRows } from '../../kit/duckdb/dialect/rows.ts';
import type { BrokenFile, OpenedLog } from './logs/ingest-log.ts';
import { openLogBatch } from './engine/log-batch.ts';
import type { NewFile, LedgerRow } from './ledger/read-again.ts';

/** Landing files that are not loaded yet, or that give other rows under the present settings. */
export interface NewContent {
  readable: NewFile[];
  broken: BrokenFile[];
}

/** A run's new files, read so far that each of them is known to be whole. */
export interface NewFiles {
  /** Number of files that do not count yet, whatever the outcome of their ingest. */
  files: number;
  /** The ledger rows of those that are read again. */
  again: LedgerRow[];
  catalogs: NewContent;
  clicks: OpenedLog;
  conversions: OpenedLog;
  /** The next number in the ledger. */
  nextFileId: () => number;
}

export const catalogColumns: KnownColumns = {
  required: requiredOfferFields,
  fields: landingFieldNames.map((name) => ({ name })),
};

/**
 * Converts all files to lines where that is not done yet. This comes before the run's transaction: a statement that
 * fails aborts the whole transaction, and one damaged file would keep all others out, run after run.
 */
export async function openNewFiles(
  run: Run,
  state: StateDatabase,
  { readable, broken }: NewContent,
): Promise<NewFiles> {
  const { connection } = state;
  const landingBytes = readable.reduce((sum, { bytes }) => sum + bytes, 0);
  if (landingBytes > 0) await fitThreads(connection, run.settings, landingBytes);
  const [last] = await queryRows<{ file_id: number | null }>(
    connection,
    'SELECT max(file_id) AS file_id FROM ingest_files',
  );
  let fileId = last?.file_id ?? 0;
  const nextFileId = () => ++fileId;
  let tables = 0;
  const withLines = async (file: CheckedFile, known: KnownColumns) => {
    const lines = await fileLines(connection, file, known, {
      scratchPath: join(run.data.scratch, `table-${tables++}`),
      maxUnpackedBytes: maxUnpackedBytesOf(run),
      mapping: landingMapping(run.settings, file.path),
    });
    for (const { field, places } of lines.mapped?.absent ?? [])
      run.logger.warn(
        { file: file.path, field },
        `no column ${places.map((place) => JSON.stringify(place)).join(' or ')}: ${field} counts as absent in all rows. Put its mapping right; a constant is {"value": …}`,
      );
    return lines;
  };
  const catalogs: NewContent = { readable: [], broken: broken.filter(({ file }) => file.kind === 'offers') };
  for (const file of readable.filter(({ kind }) => kind === 'offers')) {
    try {
      catalogs.readable.push(await withLines(file, catalogColumns));
    } catch (error) {
      if (!(error instanceof QuarantineError)) throw error;
      catalogs.broken.push({ file, reason: error.reason, detail: error.message });
    }
  }
  const open = async (kind: 'clicks' | 'conversions'): Promise<OpenedLog> => {
    const reading = { wallClock: run.wallClock, timeZone: run.settings.logs[kind].time_zone };
    const schema = kind === 'clicks' ? clickSchema(reading) : conversionSchema(reading);
    const ofKind = readable.filter((file) => file.kind === kind);
    const isOfStates = ({ path }: CheckedFile) => isStateFile(run.settings, path);
    // Numbers go by path. Only of rows of state the later ones count, so their files are numbered as they arrived.
    const numbered = [...ofKind.filter((file) => !isOfStates(file)), ...ofKind.filter(isOfStates).toSorted(compareAge)];
    const fileIds = new Map(numbered.map((file) => [file, file.before?.file_id ?? nextFileId()]));
    const files = ofKind.map((file) => ({ ...file, fileId: fileIds.get(file) as number }));
    const states = await openStateFiles(run, connection, files.filter(isOfStates), (file) => withLines(file, schema));
    return {
      schema,
      batch: await openLogBatch(connection, schema, files, async (file, known) =>
        isOfStates(file) ? states.linesOf(file) : withLines(file, known),
      ),
      emitted: states.emitted,
      broken: broken.filter(({ file }) => file.kind === kind),
    };
  };
  const again = [...readable, ...broken.map(({ file }) => file)].flatMap(({ before }) => before ?? []);
  return {
    files: readable.length + broken.length - again.length,
    again,
    catalogs,
    clicks: await open('clicks'),
    conversions: await open('conversions'),
    nextFileId,
  };
}

/** Bytes that a packed file may unpack to. */
export function maxUnpackedBytesOf({ settings }: Pick<Run, 'settings'>): number {
  return settings.unpacked_gigabytes * 1e9;
}
