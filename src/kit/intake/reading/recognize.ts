import { recognizeDialect, type CsvDialect } from './csv-dialect.ts';
import { declaredEncoding, decodeHead, encodingOf } from './decode.ts';
import type { FormatSettings } from './format-settings.ts';
import type { ScoreHeader } from './header-search.ts';
import type { RecordsPlace } from './json-records.ts';
import { jsonShape, noNames, type RecordNames } from './json-shape.ts';

/** Format of the records in a file. */
export type RecordFormat = 'json' | 'ndjson' | 'csv' | 'parquet' | 'xlsx' | 'xml';

export type Packing = 'none' | 'gzip' | 'zstd' | 'bzip2' | 'zip';

/** Bytes of a text by which it is recognized. */
export const headBytes = 64 * 1024;

/** Form of a text that is not packed. `encoding`: by the name that `Decoder` knows. */
export type TextForm = { encoding: string } & (
  | { format: 'ndjson'; commas: boolean }
  | { format: 'json'; records: RecordsPlace }
  | { format: 'xml'; records: string | undefined }
  | ({ format: 'csv' } & CsvDialect)
);

/** Form of a file by its first bytes. A zip may be a workbook, which only its list of members shows. */
export type Recognized = { packing: Exclude<Packing, 'none'> } | { packing: 'none'; form: BareForm };

export type BareForm = { format: 'parquet' } | { format: 'ole' } | TextForm;

/** First bytes of packed files and workbooks. */
const packings: readonly [Packing, number[]][] = [
  ['gzip', [0x1f, 0x8b]],
  ['zstd', [0x28, 0xb5, 0x2f, 0xfd]],
  ['zip', [0x50, 0x4b, 0x03, 0x04]],
  // A zip without a member.
  ['zip', [0x50, 0x4b, 0x05, 0x06]],
];
const bzip2Blocks = [
  [0x31, 0x41, 0x59, 0x26, 0x53, 0x59],
  [0x17, 0x72, 0x45, 0x38, 0x50, 0x90],
];
const parquetMark = Buffer.from('PAR');
/** Old workbooks, and new ones with a password. */
const oleMark = Buffer.from([0xd0, 0xcf, 0x11, 0xe0]);

/** Returns how a file is packed, by its first bytes. */
export function recognizePacking(head: Buffer): Packing {
  const found = packings.find(([, mark]) => startsWith(head, mark));
  if (found !== undefined) return found[0];
  const isBzip2 =
    head.subarray(0, 3).toString('latin1') === 'BZh' &&
    bzip2Blocks.some((mark) => mark.every((byte, index) => head[4 + index] === byte));
  return isBzip2 ? 'bzip2' : 'none';
}

/**
 * Returns what a file is by its first bytes; its name does not count. `isWhole`: nothing follows them.
 */
export function recognize(
  head: Buffer,
  isWhole: boolean,
  settings: FormatSettings = {},
  names: RecordNames = noNames,
): Recognized {
  const packing = recognizePacking(head);
  return packing === 'none' ? { packing, form: recognizeForm(head, isWhole, settings, names) } : { packing };
}

/** Returns what unpacked bytes are. */
export function recognizeForm(
  head: Buffer,
  isWhole: boolean,
  settings: FormatSettings,
  names: RecordNames = noNames,
  score?: ScoreHeader,
): BareForm {
  if (head.subarray(0, 3).equals(parquetMark) && (head[3] === 0x31 || head[3] === 0x45)) return { format: 'parquet' };
  if (startsWith(head, [...oleMark])) return { format: 'ole' };
  const encoding = encodingOf(head, settings.encoding);
  const text = decodeHead(head.subarray(0, headBytes), encoding);
  const isWholeText = isWhole && head.length <= headBytes;
  if (/^\s*<[?!A-Za-z_]/.test(text)) {
    const named = settings.encoding ?? declaredEncoding(text);
    return { format: 'xml', encoding: encodingOf(head, named), records: settings.records };
  }
  const isDelimited = settings.delimiter !== undefined || settings.header !== undefined || settings.skip !== undefined;
  const json = isDelimited ? undefined : jsonShape(text, isWholeText, names);
  if (json === undefined) return { format: 'csv', encoding, ...recognizeDialect(text, isWholeText, settings, score) };
  if (settings.records !== undefined) return { format: 'json', encoding, records: { path: settings.records } };
  return json.kind === 'ndjson'
    ? { format: 'ndjson', encoding, commas: json.commas }
    : { format: 'json', encoding, records: json.records };
}

function startsWith(head: Buffer, mark: readonly number[]): boolean {
  return mark.every((byte, index) => head[index] === byte);
}
