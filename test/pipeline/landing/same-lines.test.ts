import fc from 'fast-check';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import iconv from 'iconv-lite';
import { expect, it } from 'vitest';
import type { FormatSettings } from '../../../src/kit/intake/reading/format-settings.ts';
import { linesOfFile } from '../../support/lines-of-file.ts';
import { workbookOf, zipOf } from '../../support/packed-files.ts';
import { rounds } from '../../support/rounds.ts';

const names = ['click_id', 'offer_id', 'site_key', 'user_id', 'clicked_at', 'sub1'];
type Row = (string | null)[];

/** Characters that mean something in one format or another; all are in Windows-1252. */
const text = fc
  .string({
    unit: fc.constantFrom('a', 'Z', '7', ' ', ',', ';', '\t', '|', '"', '\\', '\n', 'é', '€', '{', '[', '<', '&'),
  })
  .map((each) => `x${each}x`);
const arbitraryRows: fc.Arbitrary<Row[]> = fc.array(
  fc.tuple(text, ...names.slice(1).map(() => fc.option(text, { nil: null, freq: 4 }))),
  { minLength: 1, maxLength: 6 },
);

type Written = { text: string; settings?: FormatSettings } | { bytes: Buffer };
const record = (row: Row) => Object.fromEntries(names.map((name, index) => [name, row[index] ?? null]));

const spelled = fc.constantFrom<((name: string) => string)[]>(
  (name) => name,
  (name) => name.toUpperCase(),
  (name) => ` ${name.replace('_', ' ')}`,
  (name) => name.replace('_', '-'),
  (name) => name.replace('_', ''),
);
const csv = fc
  .record({
    delimiter: fc.constantFrom(',', ';', '\t', '|'),
    spell: spelled,
    lineEnd: fc.constantFrom('\n', '\r\n', '\r'),
    sep: fc.boolean(),
    last: fc.boolean(),
    blank: fc.boolean(),
    absent: fc.constantFrom('', '\\N', '""'),
  })
  .map(({ delimiter, spell, lineEnd, sep, last, blank, absent }) => (rows: Row[]): Written => {
    const cell = (value: string | null) => (value === null ? absent : `"${value.replaceAll('"', '""')}"`);
    const line = (cells: readonly string[]) =>
      `${cells.join(delimiter)}${last ? delimiter : ''}${lineEnd}${blank ? lineEnd : ''}`;
    return {
      text: `${sep ? `sep=${delimiter}${lineEnd}` : ''}${line(names.map(spell))}${rows.map((row) => line(row.map(cell))).join('')}`,
    };
  });
const json = fc
  .record({
    indent: fc.constantFrom(undefined, 1, '\t'),
    form: fc.constantFrom('list', 'wrapped', 'lines', 'sequence', 'deep'),
  })
  .map(({ indent, form }) => (rows: Row[]): Written => {
    const records = rows.map(record);
    if (form === 'list') return { text: JSON.stringify(records, null, indent) };
    if (form === 'wrapped') return { text: JSON.stringify({ page: { next: [] }, rows: records }, null, indent) };
    if (form === 'deep')
      return {
        text: JSON.stringify({ x: [], data: { rows: records } }, null, indent),
        settings: { records: 'data.rows' },
      };
    const mark = form === 'sequence' ? '\u001e' : '';
    return { text: records.map((each) => `${mark}${JSON.stringify(each, null, indent)}\n`).join('') };
  });
const workbook = fc.constant((rows: Row[]): Written => ({ bytes: workbookOf({ Sheet1: [names, ...rows] }) }));

const encodings = ['utf-8', 'utf-8 with a mark', 'utf-16le', 'utf-16be', 'windows-1252'] as const;
function encoded(
  { text: written, settings }: { text: string; settings?: FormatSettings },
  encoding: (typeof encodings)[number],
): { bytes: Buffer; settings: FormatSettings } {
  if (encoding === 'windows-1252')
    return { bytes: iconv.encode(written, encoding), settings: { ...settings, encoding } };
  const mark = encoding === 'utf-8' ? '' : '\ufeff';
  return {
    bytes: iconv.encode(mark + written, encoding === 'utf-16be' || encoding === 'utf-16le' ? encoding : 'utf-8', {
      addBOM: false,
    }),
    settings: settings ?? {},
  };
}

const packings: Record<string, (bytes: Buffer) => Buffer> = {
  none: (bytes) => bytes,
  gzip: gzipSync,
  zstd: zstdCompressSync,
  zip: (bytes) => zipOf({ 'a.txt': bytes }),
};
const endings = ['csv', 'tsv', 'txt', 'json', 'ndjson', 'jsonl', 'xlsx', 'parquet', 'csv.gz', 'json.zip'];

it('the same records in any format, dialect, encoding and packing are the same lines, whatever the name', async () => {
  await fc.assert(
    fc.asyncProperty(
      arbitraryRows,
      fc.oneof({ weight: 4, arbitrary: csv }, { weight: 4, arbitrary: json }, { weight: 1, arbitrary: workbook }),
      fc.constantFrom(...encodings),
      fc.constantFrom(...Object.keys(packings)),
      fc.constantFrom(...endings),
      async (rows, write, encoding, packing, ending) => {
        const written = write(rows);
        const { bytes, settings } =
          'bytes' in written ? { bytes: written.bytes, settings: {} } : encoded(written, encoding);
        const pack = 'bytes' in written ? packings['none'] : packings[packing];
        const read = await linesOfFile((pack as (each: Buffer) => Buffer)(bytes), { name: `a.${ending}`, settings });
        expect(read.problem).toBeUndefined();
        // A document keeps the blanks between its tokens.
        expect(read.lines.map((line) => JSON.parse(line) as unknown)).toEqual(rows.map(record));
      },
    ),
    { numRuns: rounds(100, 400) },
  );
});
