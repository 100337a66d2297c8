import fc from 'fast-check';
import { expect, it } from 'vitest';
import { JsonRecords } from '../../../../src/kit/intake/reading/json-records.ts';
import { takenApart } from '../../../support/taken-apart.ts';

function read(document: string, chunkBytes?: number): { records: string[] } | { reason: string } {
  const { lines, reason } = takenApart((file) => new JsonRecords(file), document, chunkBytes);
  return reason === undefined ? { records: lines } : { reason };
}

it.each<[what: string, document: string, records: string[]]>([
  ['an array', '[{"a":1},{"a":2}]', ['{"a":1}', '{"a":2}']],
  ['an object with one array', '{"count":2,"rows":[{"a":1},{"a":2}],"more":{"list":[1,2]}}', ['{"a":1}', '{"a":2}']],
  ['no records', ' [ ] ', []],
  ['no records in an object', '{"x":[]}', []],
  ['elements that are no objects', '[1,"a,]",[2,3],null]', ['1', '"a,]"', '[2,3]', 'null']],
  ['line breaks', '[\r\n  {\n    "a": 1\n  }\n]\n', ['{     "a": 1   }']],
  [
    'brackets, quotes and commas in strings',
    String.raw`[{"a":"\"],[\\"},{"b":"}"}]`,
    [String.raw`{"a":"\"],[\\"}`, '{"b":"}"}'],
  ],
  [
    'digits that a parser would lose',
    '[{"payout":0.3000000000000000001,"id":9007199254740993}]',
    ['{"payout":0.3000000000000000001,"id":9007199254740993}'],
  ],
  [
    'scalars',
    '[-0.5e+10,0,1E-2,true,false,null,"\\u00e9\\/\\n",\t12 ]',
    ['-0.5e+10', '0', '1E-2', 'true', 'false', 'null', '"\\u00e9\\/\\n"', '12'],
  ],
  [
    'what is nested ever so deep',
    `[${'[{"a":'.repeat(50_000)}1${'}]'.repeat(50_000)}]`,
    [`${'[{"a":'.repeat(50_000)}1${'}]'.repeat(50_000)}`],
  ],
])('cuts %s into the texts of its records, however it comes', (_what, document, records) => {
  expect(read(document)).toEqual({ records });
  expect(read(document, document.length > 1000 ? 4099 : 1)).toEqual({ records });
});

it.each<[document: string, reason: string]>([
  ['[{"a":1}', 'broken_json'],
  ['[{"a":1},]', 'broken_json'],
  ['[NaN]', 'broken_json'],
  ['{"a":1}\n{"a":2}', 'broken_json'],
  ['5', 'no_single_array'],
  ['"[]"', 'no_single_array'],
  ['null', 'no_single_array'],
  ['{"a":1}', 'no_single_array'],
  ['{"a":{"b":[1]}}', 'no_single_array'],
  ['{"a":[1],"b":[]}', 'no_single_array'],
  ...[
    '[',
    ']',
    '{',
    '[1',
    '[1 2]',
    '[1,]',
    '[,1]',
    '[{"a"}]',
    '[{"a":}]',
    '[{"a":1,}]',
    '[{a:1}]',
    '[}',
    '{]',
    '[1]]',
    '[1]x',
    '["',
    '["\\',
    '["\\x"]',
    '["\\u12g4"]',
    '["\n"]',
    '[01]',
    '[1.]',
    '[.5]',
    '[+1]',
    '[-]',
    '[1e]',
    '[1e+]',
    '[0x1]',
    '[tru]',
    '[truee]',
    '[nul',
    'tru',
    '-',
    '1.',
    '[1]/**/',
    "['a']",
    '[\u00a01]',
    '{"a":[1]},',
    '{"a":[1]',
    '{"a" [1]}',
    '{,"a":[1]}',
  ].map((document): [string, string] => [document, 'broken_json']),
])('refuses %j, however it comes', (document, reason) => {
  expect(read(document)).toEqual({ reason });
  expect(read(document, 1)).toEqual({ reason });
});

it('a text of nothing but blanks has no records', () => {
  expect(['', ' ', '\r\n\t '].map((text) => read(text))).toEqual([{ records: [] }, { records: [] }, { records: [] }]);
});

it('takes for valid what a parser does, and nothing else', () => {
  const piece = fc.constantFrom(
    '[',
    ']',
    '{',
    '}',
    ',',
    ':',
    '"',
    '"a"',
    '1',
    '0',
    '-',
    '.',
    'e',
    'true',
    'null',
    ' ',
    '\n',
    '\\',
    '\\"',
    '\\u00e9',
    'x',
  );
  const document = fc.oneof(
    fc.json(),
    fc.array(piece, { maxLength: 8 }).map((pieces) => `[${pieces.join('')}]`),
  );
  fc.assert(
    fc.property(document, fc.integer({ min: 1, max: 9 }), (text, chunkBytes) => {
      let isValid = true;
      try {
        JSON.parse(text);
      } catch {
        isValid = false;
      }
      const result = read(text, chunkBytes);
      expect('reason' in result && result.reason === 'broken_json').toBe(!isValid);
    }),
    { numRuns: 1000 },
  );
});

it('gives back every value of any array, one line each', () => {
  fc.assert(
    fc.property(
      fc.array(fc.jsonValue()),
      fc.constantFrom(undefined, 1, '\t'),
      fc.boolean(),
      fc.integer({ min: 1, max: 50 }),
      (values, indent, wrapped, chunkBytes) => {
        const split = read(
          JSON.stringify(wrapped ? { page: { next: [] }, rows: values } : values, null, indent),
          chunkBytes,
        );
        const records = 'records' in split ? split.records : [];
        expect(records.map((record) => JSON.parse(record) as unknown)).toEqual(JSON.parse(JSON.stringify(values)));
        expect(records.filter((record) => /[\r\n]/.test(record))).toEqual([]);
      },
    ),
  );
});
