import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CsvRecords } from '../../../../src/kit/intake/reading/csv-records.ts';
import { RecordList } from '../../../../src/kit/intake/reading/record-sink.ts';
import { csvRow } from '../../../../src/kit/text/csv.ts';
import { takenApart } from '../../../support/taken-apart.ts';

function read(text: string, chunkBytes?: number) {
  const { lines, reason, taker } = takenApart((file) => new CsvRecords(file), text, chunkBytes);
  return reason === undefined
    ? {
        rows: lines.map((line) => JSON.parse(line) as unknown),
        columns: taker.columns,
        unterminatedRow: taker.unterminatedRow,
      }
    : { reason };
}

function both(text: string) {
  const whole = read(text);
  expect(read(text, 1)).toEqual(whole);
  return whole;
}

it.each<[text: string, rows: unknown[]]>([
  ['a,b\n1,2\n', [{ a: '1', b: '2' }]],
  [
    'a,b\r\n1,2\r\n\r\n3,4\r\n',
    [
      { a: '1', b: '2' },
      { a: '3', b: '4' },
    ],
  ],
  ['a,b\r1,2\r', [{ a: '1', b: '2' }]],
  [
    'a,b\n,\n"",""\n',
    [
      { a: null, b: null },
      { a: null, b: null },
    ],
  ],
  [
    'a,b\n1\n1,2,3\n1,2,3,4\n1,2,\n,\n',
    [['1'], ['1', '2', '3'], ['1', '2', '3', '4'], ['1', '2', ''], { a: null, b: null }],
  ],
  ['a,b\n"1","x, ""y""\r\nz"\n', [{ a: '1', b: 'x, "y"\nz' }]],
  [
    'a,b\n1, "x" \n 2 , y\n',
    [
      { a: '1', b: 'x' },
      { a: ' 2 ', b: ' y' },
    ],
  ],
  [
    'a,b\n1,mid"dle\n2,"\n"\n',
    [
      { a: '1', b: 'mid"dle' },
      { a: '2', b: '\n' },
    ],
  ],
  [
    'a,b\n\\,"\\"\n\u0000\t,\u0001é😀\n',
    [
      { a: '\\', b: '\\' },
      { a: '\0\t', b: '\u0001é😀' },
    ],
  ],
  ['"a ""x""",b"c\n1,2\n', [{ 'a "x"': '1', 'b"c': '2' }]],
  ['a\n1\n\n""\n   \n', [{ a: '1' }, { a: null }, { a: '   ' }]],
  ['a,b\n', []],
  ['\n \t\r\na,b\n1,2\n  \n\t\n \n', [{ a: '1', b: '2' }]],
  ['a , b\n1,2\n', [{ a: '1', b: '2' }]],
  ['a,b,\n1,2,\n3,4\n5,6,7\n', [{ a: '1', b: '2' }, { a: '3', b: '4' }, ['5', '6', '7']]],
  [
    'a,b\n\\N,"\\N"\nNULL,"NULL"\nNULLS,null\n',
    [
      { a: null, b: null },
      { a: null, b: 'NULL' },
      { a: 'NULLS', b: 'null' },
    ],
  ],
  ['', []],
  ['\n \r\n', []],
])('makes records of %j, however it comes', (text, rows) => {
  expect(both(text)).toMatchObject({ rows, unterminatedRow: null });
});

it.each<[text: string, reason: string]>([
  ['a,b\n1,"x\n3,4\n', 'broken_csv'],
  ['a,b\n1,"x', 'broken_csv'],
  ['a,b\n1,"x"y\n', 'broken_csv'],
  ['a,b\n1,2,3,"x" y\n', 'broken_csv'],
  ['a,"b"x\n1,2\n', 'broken_csv'],
  ['a,b\n"\n', 'broken_csv'],
  ['a,,b\n', 'bad_header'],
  ['a,b,a\n', 'bad_header'],
  [',a\n', 'bad_header'],
  [`a,${'b'.repeat(70_000)}\n`, 'bad_header'],
  [`a,b\n1,${'x'.repeat(17_000_000)}\n`, 'line_too_long'],
])('refuses %.30s', (text, reason) => {
  expect(read(text)).toEqual({ reason });
  expect(read(text, text.length > 100 ? 65_536 : 1)).toEqual({ reason });
});

it('a last row whose line has no end is no record, however whole it looks', () => {
  expect(both('a,b\n1,2\n\n3,4')).toEqual({
    rows: [{ a: '1', b: '2' }, ['3', '4']],
    columns: ['a', 'b'],
    unterminatedRow: 3,
  });
  expect(both('a,b\n1,"2"')).toEqual({ rows: [['1', '2']], columns: ['a', 'b'], unterminatedRow: 2 });
  expect(both('a,b')).toEqual({ rows: [], columns: ['a', 'b'], unterminatedRow: null });
});

it('of a whole text the last row counts, and rows know their lines', () => {
  const list = new RecordList(1000);
  const records = new CsvRecords(list, { isWhole: true });
  records.take(Buffer.from('a,b\r\n\r\n"1\n1",2\r\n3,4'));
  expect([records.finish(), records.unterminatedRow]).toEqual([undefined, null]);
  expect(list.records(2)).toEqual([
    { line: 3, text: '{"a":"1\\n1","b":"2"}' },
    { line: 5, text: '{"a":"3","b":"4"}' },
  ]);
  expect(() => new RecordList(3).bytes(Buffer.from('1234'))).toThrow('more than 3 bytes');
});

it('reads back what is written, however it comes', () => {
  const cell = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', ' ', '\\', 'é', '\t') }));
  fc.assert(
    fc.property(fc.array(fc.tuple(cell, cell, cell)), fc.integer({ min: 1, max: 40 }), (rows, chunkBytes) => {
      const written = (text: string) =>
        /^ | $/.test(text) ? ` "${text.replaceAll('"', '""')}" ` : csvRow([text]).slice(0, -1);
      const text = `a,b,c\n${rows.map((row) => `${row.map(written).join(',')}\n`).join('')}`;
      const records = rows.map((row) =>
        Object.fromEntries(
          row.map((value, index) => ['abc'[index], value === '' ? null : value.replaceAll('\r', '\n')]),
        ),
      );
      expect(read(text, chunkBytes)).toMatchObject({ rows: records });
    }),
  );
});

it('takes a line of millions of blanks for no row', () => {
  expect(read(`a,b\n${' '.repeat(9_000_000)}\n1,2\n`)).toMatchObject({ rows: [{ a: '1', b: '2' }] });
});
