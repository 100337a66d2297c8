import { UsageError } from '../../../kit/errors/errors.ts';
import { openRegularFile } from '../../../kit/config/regular-file.ts';
import type { FormatSettings } from '../../../kit/intake/reading/format-settings.ts';
import type { ScoreHeader } from '../../../kit/intake/reading/header-search.ts';
import { noNames } from '../../../kit/intake/reading/json-shape.ts';
import { headOf, readPacked } from '../../../kit/intake/reading/read-packed.ts';
import { recognizePacking } from '../../../kit/intake/reading/recognize.ts';
import type { ReadText } from '../../../kit/intake/reading/record-reader.ts';
import { RecordList, UnusableFile, type FileProblem } from '../../../kit/intake/reading/record-sink.ts';
import { parseJson, type JsonValue } from '../../../kit/text/json-text.ts';

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
  format: ReadText['format'];
}

/** Reads a list's records by its bytes. Throws `UsageError` naming the file where it cannot be read. */
export async function readListRecords(
  file: string,
  settings: FormatSettings,
  score: ScoreHeader,
): Promise<ListRecords> {
  await assertReadable(file);
  let bytes = 0;
  const count = (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxBytes)
      throw new UsageError(
        `${file} has more than ${maxBytes} bytes, which is the most that is read: compare it in parts`,
      );
  };
  const list = new RecordList(2 * maxBytes);
  try {
    const read = await readPacked(file, recognizePacking(headOf(file)), list, {
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

async function assertReadable(file: string): Promise<void> {
  try {
    const opened = await openRegularFile(file, maxBytes);
    await opened.close();
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

const cures: Readonly<Record<string, string>> = {
  packed_parquet: 'it is Parquet: write the list as CSV, JSON or .xlsx',
  bad_utf8:
    'the text is not valid UTF-8; say what it is by --mapping, such as {"format": {"encoding": "windows-1252"}}',
};

function explained({ reason, detail }: FileProblem): string {
  return cures[reason] ?? (detail.includes('format.') ? `${detail}; --mapping names a file with it` : detail);
}
