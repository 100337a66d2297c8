import type { DuckDBConnection } from '@duckdb/node-api';
import { join } from 'node:path';
import { fileLines } from '../landing/lines/file-lines.ts';
import type { KnownColumns } from '../landing/lines/parquet-columns.ts';
import type { CheckedFile } from '../landing/landing-file.ts';
import { clickSchema, conversionSchema } from '../landing/logs/log-fields.ts';
import { landingMapping } from './landing-mappings.ts';
import { hasTextCells } from './catalog/reading-digest.ts';
import { compareAge } from './catalog/catalog-files.ts';
import { isStateFile, openStateFiles } from './states/open-state-files.ts';
import type { Run } from '../runs/stage.ts';
import { requiredOfferFields } from '../landing/lines/record-names.ts';
import { landingFieldNames } from '../../kit/vocabulary/offer-fields.ts';
import type { EventKind, LandingKind } from '../../kit/vocabulary/values.ts';
import type { StateDatabase } from '../warehouse/database.ts';
import { fitThreads } from '../warehouse/small-warehouse.ts';
import { queryRows } from '../../kit/duckdb/dialect/rows.ts';
import type { BrokenFile, OpenedLog } from './logs/ingest-log.ts';
import { openLogBatch, type LogBatchFile } from './engine/log-batch.ts';
import { openEach } from './open-each.ts';
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
export async function openNewFiles(run: Run, state: StateDatabase, content: NewContent): Promise<NewFiles> {
  const { connection } = state;
  const { readable, broken } = content;
  const landingBytes = readable.reduce((sum, { bytes }) => sum + bytes, 0);
  if (landingBytes > 0) await fitThreads(connection, run.settings, landingBytes);
  const [last] = await queryRows<{ file_id: number | null }>(
    connection,
    'SELECT max(file_id) AS file_id FROM ingest_files',
  );
  let fileId = last?.file_id ?? 0;
  const nextFileId = () => ++fileId;
  const opener = new FileOpener(run, connection, content, nextFileId);
  const again = [...readable, ...broken.map(({ file }) => file)].flatMap(({ before }) => before ?? []);
  return {
    files: readable.length + broken.length - again.length,
    again,
    catalogs: await opener.openCatalogs(),
    clicks: await opener.openLog('clicks'),
    conversions: await opener.openLog('conversions'),
    nextFileId,
  };
}

class FileOpener {
  readonly #run: Run;
  readonly #connection: DuckDBConnection;
  readonly #content: NewContent;
  readonly #nextFileId: () => number;
  #tables = 0;

  constructor(run: Run, connection: DuckDBConnection, content: NewContent, nextFileId: () => number) {
    this.#run = run;
    this.#connection = connection;
    this.#content = content;
    this.#nextFileId = nextFileId;
  }

  async openCatalogs(): Promise<NewContent> {
    const ofKind = this.#content.readable.filter(({ kind }) => kind === 'offers');
    const { opened, broken } = await openEach(ofKind, (file) => this.#withLines(file, catalogColumns));
    return { readable: opened, broken: [...this.#brokenOf('offers'), ...broken] };
  }

  async openLog(kind: EventKind): Promise<OpenedLog> {
    const { wallClock, settings } = this.#run;
    const reading = { wallClock, timeZone: settings.logs[kind].time_zone };
    const schema = kind === 'clicks' ? clickSchema(reading) : conversionSchema(reading);
    const isOfStates = ({ path }: CheckedFile) => isStateFile(settings, path);
    const withLines = (file: CheckedFile) => this.#withLines(file, schema);
    const files = this.#numbered(kind, isOfStates);
    const states = await openStateFiles(this.#run, this.#connection, files.filter(isOfStates), withLines);
    const batch = await openLogBatch(this.#connection, schema, files, async (file) =>
      isOfStates(file) ? states.linesOf(file) : withLines(file),
    );
    return { schema, batch, emitted: states.emitted, broken: this.#brokenOf(kind) };
  }

  /**
   * The files of a log, by path, with their numbers in the ledger. Numbers go by path, too. Only of rows of state the
   * later ones count, so their files are numbered as they arrived.
   */
  #numbered(kind: EventKind, isOfStates: (file: NewFile) => boolean): LogBatchFile[] {
    const files = this.#content.readable.filter((file) => file.kind === kind);
    const inOrder = [...files.filter((file) => !isOfStates(file)), ...files.filter(isOfStates).toSorted(compareAge)];
    const fileIds = new Map(inOrder.map((file) => [file, file.before?.file_id ?? this.#nextFileId()]));
    return files.map((file) => ({ ...file, fileId: fileIds.get(file) as number }));
  }

  #brokenOf(kind: LandingKind): BrokenFile[] {
    return this.#content.broken.filter(({ file }) => file.kind === kind);
  }

  async #withLines(file: CheckedFile, known: KnownColumns): Promise<CheckedFile> {
    const { data, settings, logger } = this.#run;
    const lines = await fileLines(this.#connection, file, known, {
      scratchPath: join(data.scratch, `table-${this.#tables++}`),
      maxUnpackedBytes: maxUnpackedBytesOf(this.#run),
      mapping: landingMapping(settings, file.path),
    });
    for (const { field, places, decide } of lines.mapped?.absent ?? []) {
      const names = places.map((place) => JSON.stringify(place)).join(' or ');
      const follows = decide
        ? `${field} is unknown, so rows are rejected as no_column. Put the mapping right, and they are read again`
        : `${field} counts as absent in all rows. Put its mapping right`;
      const what = hasTextCells(lines.format) ? `no column ${names}` : `no record has ${names}`;
      logger.warn({ file: file.path, field }, `${what}: ${follows}; a constant is {"value": …}`);
    }
    return lines;
  }
}

/** Bytes that a packed file may unpack to. */
export function maxUnpackedBytesOf({ settings }: Pick<Run, 'settings'>): number {
  return settings.unpacked_gigabytes * 1e9;
}
