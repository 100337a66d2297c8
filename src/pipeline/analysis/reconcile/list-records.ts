import { UsageError } from '../../../kit/errors/errors.ts';
import { openRegularFile } from '../../../kit/config/regular-file.ts';
import { queryRows } from '../../../kit/duckdb/dialect/rows.ts';
import { inMemory, withDuckDB } from '../../../kit/duckdb/open.ts';
import type { FormatSettings } from '../../../kit/intake/reading/format-settings.ts';
import type { ScoreHeader } from '../../../kit/intake/reading/header-search.ts';
import { noNames } from '../../../kit/intake/reading/json-shape.ts';
import { headOf, readPacked } from '../../../kit/intake/reading/read-packed.ts';
import { recognize, type RecordFormat } from '../../../kit/intake/reading/recognize.ts';
import { RecordList, UnusableFile, type FileProblem } from '../../../kit/intake/reading/record-sink.ts';
import { isJsonObject, JsonNumber, parseJson, type JsonValue } from '../../../kit/text/json-text.ts';
import { asJsonRecord, parquetColumns, parquetRows } from '../../landing/lines/parquet-columns.ts';

/** Size of a list, packed and unpacked: all of it is compared in memory. */
const maxBytes = 256 * 2 ** 20;

/** A record of a list; a row of other length than the header is the list of its cells. */
export interface ListRecord {
  /** Of a text its line, of a sheet its row, of a document the record's number. */
  line: number;
  /** Undefined for a line that is no JSON. */
  value: JsonValue | undefined;
  text: string;
}

interface ListRecords {
  records: ListRecord[];
  /** Columns of a list with a header. */
  columns: string[] | null;
  /** Number of the header. */
  header: number;
  format: RecordFormat;
}

/** Reads a list's records by its bytes. Throws `UsageError` naming the file where it cannot be read. */
export async function readListRecords(
  file: string,
  settings: FormatSettings,
  score: ScoreHeader,
): Promise<ListRecords> {
  await assertReadable(file);
  const recognized = recognize(headOf(file), false, settings);
  if (recognized.packing === 'none' && recognized.form.format === 'parquet') return readParquet(file);
  let bytes = 0;
  const count = (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLong(file);
  };
  const list = new RecordList(2 * maxBytes);
  try {
    const read = await readPacked(file, recognized.packing, list, {
      onBytes: () => undefined,
      check: count,
      options: { settings, names: noNames, score, isWhole: true },
    });
    if (read.problem !== undefined) throw new UnusableFile(read.problem);
    const records = list.records(read.firstRow).map(({ line, text }) => ({ line, text, value: parseJson(text) }));
    return { records, columns: read.columns, header: read.headerRow ?? read.firstRow - 1, format: read.format };
  } catch (error) {
    if (!(error instanceof UnusableFile)) throw error;
    throw new UsageError(`${file}: ${explained(error.problem)}`, { cause: error });
  }
}

/** Records are numbered from 1. A column of numbers gives numbers, with all digits. */
async function readParquet(file: string): Promise<ListRecords> {
  const rows = parquetRows(file);
  try {
    return await withDuckDB(inMemory, { threads: '1' }, async (connection) => {
      const columns = await parquetColumns(connection, file, { required: [], fields: [] });
      const record = asJsonRecord(columns, []);
      // A few bytes may stand for any number of equal values.
      const [size] = await queryRows<{ bytes: bigint | number }>(
        connection,
        `SELECT coalesce(sum(strlen(text)), 0)::BIGINT AS bytes FROM (SELECT ${record} AS text FROM ${rows})`,
      );
      if (size === undefined || size.bytes > maxBytes) throw tooLong(file);
      const numbers = columns.filter(({ type }) => numberType.test(type)).map(({ as }) => as);
      const texts = await queryRows<{ text: string }>(connection, `SELECT ${record} AS text FROM ${rows}`);
      const records = texts.map(({ text }, index) => {
        const value = parseJson(text);
        if (isJsonObject(value))
          for (const name of numbers) if (typeof value[name] === 'string') value[name] = new JsonNumber(value[name]);
        return { line: index + 1, text, value };
      });
      return { records, columns: columns.map(({ as }) => as), header: 0, format: 'parquet' };
    });
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const [message] = (error as Error).message.split('\n');
    throw new UsageError(`${file} cannot be read as Parquet: ${message}`, { cause: error });
  }
}

/** DuckDB's types of numbers that are no lists of them. */
const numberType = /^(?:U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?|DOUBLE|FLOAT|DECIMAL\(\d+,\d+\))$/;

function tooLong(file: string): UsageError {
  return new UsageError(`${file} has more than ${maxBytes} bytes, which is the most that is read: compare it in parts`);
}

async function assertReadable(file: string): Promise<void> {
  try {
    const opened = await openRegularFile(file, maxBytes);
    await opened.close();
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

const cures: Readonly<Record<string, string>> = {
  packed_parquet: 'Parquet is packed in itself: unpack the file and name what was in it',
  bad_utf8:
    'the text is not valid UTF-8; say what it is by --mapping, such as {"format": {"encoding": "windows-1252"}}',
};

function explained({ reason, detail }: FileProblem): string {
  return cures[reason] ?? (detail.includes('format.') ? `${detail}; --mapping names a file with it` : detail);
}
