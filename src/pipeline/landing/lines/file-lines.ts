import type { DuckDBConnection } from '@duckdb/node-api';
import { rm } from 'node:fs/promises';
import { isInterruption } from '../../../kit/duckdb/interruption.ts';
import { isDiskUnwritable, isMomentary } from '../../../kit/errors/machine-failure.ts';
import { keysAbove } from '../../../kit/intake/mapping/places.ts';
import { matchNames, sameNames } from '../../../kit/intake/reading/header-names.ts';
import { maxLineBytes, UnusableFile } from '../../../kit/intake/reading/record-sink.ts';
import { TextCheck } from '../../../kit/intake/reading/text-check.ts';
import { QuarantineError, type CheckedFile, type LandingFile } from '../landing-file.ts';
import { partitionsOf } from './hive-partitions.ts';
import type { LandingMapping } from './map-lines.ts';
import { recordNamesBy, recordNamesOf } from './record-names.ts';
import { withoutLongLines } from './to-ndjson.ts';
import {
  asJsonRecord,
  parquetColumns,
  parquetRows,
  unreadBytes,
  type KnownColumns,
  type Partition,
} from './parquet-columns.ts';
import { readThrough } from '../../../kit/files/read-through.ts';
import { quoted } from '../../../kit/text/sql-text.ts';

interface FileReading {
  scratchPath: string;
  maxUnpackedBytes: number;
  mapping: LandingMapping | undefined;
}

/** Columns as a mapping names them. None has to be there, and a cell may hold the object that a place leads into. */
function columnsBy({ mapping, names }: LandingMapping): KnownColumns {
  const { fields, exactFirst } = names ?? recordNamesBy(mapping);
  return { required: [], fields: [...new Set(fields.flatMap(keysAbove))].map((name) => ({ name })), exactFirst };
}

/**
 * Gives a checked file with its lines known: makes lines of what only DuckDB can read, Parquet, beside `scratchPath`,
 * and looks for the columns without which a file with a header is not what its folder says. To be called outside of a
 * transaction: a statement that fails would abort it, and with it all other files. Throws `QuarantineError`.
 */
export async function fileLines(
  connection: DuckDBConnection,
  file: CheckedFile,
  known: KnownColumns,
  { scratchPath, maxUnpackedBytes, mapping }: FileReading,
): Promise<CheckedFile> {
  if (file.format === 'parquet' && file.bytes > 0)
    return unfoldParquet(connection, file, mapping === undefined ? known : columnsBy(mapping), {
      scratchPath,
      maxUnpackedBytes,
      mapping,
    });
  if (file.columns !== null) assertColumns(file.columns, known);
  return file;
}

/**
 * Columns that the folders of a Parquet file name and that are read, ours or those of the mapping, but for `columns`,
 * which the file itself has; of two that are one name the innermost counts.
 */
export function columnsOfPath(
  { kind, path }: Pick<LandingFile, 'kind' | 'path'>,
  given: LandingMapping | undefined,
  columns: readonly string[] = [],
): Partition[] {
  const { fields } = given === undefined ? recordNamesOf(kind) : recordNamesBy(given.mapping);
  const partitions = new Map<string, Partition>();
  for (const partition of partitionsOf(path)) {
    const [name = ''] = matchNames([partition.name], fields);
    if (fields.includes(name) && !columns.includes(name)) partitions.set(name, { ...partition, name });
  }
  return [...partitions.values()];
}

const tooLarge = 'records of more bytes than are allowed';
/** DuckDB's words. */
const notText = 'is not valid UTF8';

/**
 * Writes a Parquet file's records beside `scratchPath` as JSON, one a line, and gives the file with its lines known.
 * Throws `QuarantineError` where it cannot be read whole, and errors of the machine as they are.
 */
async function unfoldParquet(
  connection: DuckDBConnection,
  file: CheckedFile,
  known: KnownColumns,
  { scratchPath, maxUnpackedBytes, mapping }: FileReading,
): Promise<CheckedFile> {
  const rows = parquetRows(file.readablePath);
  const readablePath = `${scratchPath}.ndjson`;
  // A few bytes may stand for any number of equal values, so the bytes are counted while they are written.
  const write = (record: string) =>
    connection.run(
      `COPY (
         SELECT CASE WHEN sum(strlen(raw) + 1) OVER (ROWS UNBOUNDED PRECEDING) > ${maxUnpackedBytes} THEN error('${tooLarge}') ELSE raw END
         FROM (SELECT ${record} AS raw FROM ${rows})
       ) TO ${quoted(readablePath)} (FORMAT csv, HEADER false, QUOTE '', ESCAPE '', DELIMITER '\u0001')`,
    );
  let names: string[];
  try {
    const columns = await parquetColumns(connection, file.readablePath, known);
    const fields = columns.map(({ as }) => as);
    assertDistinct(
      columns.map(({ written }) => written),
      fields,
    );
    const partitions = columnsOfPath(file, mapping, fields);
    names = [...fields, ...partitions.map(({ name }) => name)];
    assertColumns(names, known);
    try {
      await write(asJsonRecord(columns, partitions));
    } catch (error) {
      if (!(error as Error).message.includes(notText)) throw error;
      await write(asJsonRecord(columns, partitions, await unreadBytes(connection, file.readablePath, known)));
    }
  } catch (error) {
    await rm(readablePath, { force: true });
    // Nothing is wrong with the file: another run reads it.
    if (isInterruption(error) || isDiskUnwritable(error) || isMomentary(error)) throw error;
    throw unreadable(error as Error, file, maxUnpackedBytes);
  }
  const unfolded: CheckedFile = { ...file, readablePath, columns: names };
  const text = new TextCheck('ndjson');
  await readThrough(readablePath, (chunk) => text.see(chunk));
  if (text.longestLine > maxLineBytes)
    throw new QuarantineError(
      'line_too_long',
      `a record has ${text.longestLine} bytes; at most ${maxLineBytes} are read`,
    );
  try {
    return await withoutLongLines(file, scratchPath, unfolded, text.longestLine, mapping);
  } catch (error) {
    if (!(error instanceof UnusableFile)) throw error;
    throw new QuarantineError(error.problem.reason, error.problem.detail);
  }
}

function assertDistinct(written: readonly string[], names: readonly string[]): void {
  const same = sameNames(written, names);
  if (same !== undefined)
    throw new QuarantineError('bad_header', `the columns "${same[0]}" and "${same[1]}" are one name`);
}

function assertColumns(names: readonly string[], { required }: KnownColumns): void {
  const missing = required.filter((name) => !names.includes(name));
  if (missing.length > 0) throw new QuarantineError('missing_column', describeMissing(missing, names));
}

/** Number of columns, and characters of each, that a message names. */
const maxNamed = 20;
const maxNameCharacters = 60;

/** Names the columns that a file lacks, and those that it has. */
export function describeMissing(missing: readonly string[], found: readonly string[]): string {
  const named = found.slice(0, maxNamed).map((name) => name.slice(0, maxNameCharacters));
  const more = found.length > maxNamed ? ` and ${found.length - maxNamed} more` : '';
  return `there is no column ${missing.join(', ')}; it has ${named.join(', ')}${more}`;
}

/** DuckDB's error, with the name that we use for the file in place of its path on this machine. */
function unreadable(error: Error, file: CheckedFile, maxUnpackedBytes: number): QuarantineError {
  if (error instanceof QuarantineError) return error;
  const { message } = error;
  if (message.includes(tooLarge))
    return new QuarantineError(
      'unpacked_too_large',
      `its records take more than ${maxUnpackedBytes} bytes: land it in parts, or raise unpacked_gigabytes in offerline.json`,
    );
  if (message.includes(notText))
    return new QuarantineError('bad_utf8', 'the text of a column that is read is not valid UTF-8');
  return new QuarantineError('not_parquet', (message.split('\n')[0] ?? '').replaceAll(file.readablePath, file.path));
}
