import fc from 'fast-check';
import { expect, it } from 'vitest';
import { splitJsonDocument } from '../../src/landing/json-document.ts';

it.each<[what: string, document: string, records: string[]]>([
  ['an array', '[{"a":1},{"a":2}]', ['{"a":1}', '{"a":2}']],
  ['an object with one array', '{"count":2,"rows":[{"a":1},{"a":2}],"more":{"list":[1,2]}}', ['{"a":1}', '{"a":2}']],
  ['no records', ' [ ] ', []],
  ['no records in an object', '{"x":[]}', []],
  ['elements that are no objects', '[1,"a,]",[2,3],null]', ['1', '"a,]"', '[2,3]', 'null']],
  ['line breaks', '[\r\n  {\n    "a": 1\n  }\n]\n', ['{     "a": 1   }']],
  ['brackets, quotes and commas in strings', String.raw`[{"a":"\"],[\\"},{"b":"}"}]`, [String.raw`{"a":"\"],[\\"}`, '{"b":"}"}']],
  ['digits that a parser would lose', '[{"payout":0.3000000000000000001,"id":9007199254740993}]', ['{"payout":0.3000000000000000001,"id":9007199254740993}']],
])('cuts %s into the texts of its records', (_what, document, records) => {
  expect(splitJsonDocument(document)).toEqual({ records });
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
])('refuses %s', (document, reason) => {
  expect(splitJsonDocument(document)).toMatchObject({ reason });
});

it('gives back every value of any array, one line each', () => {
  fc.assert(fc.property(fc.array(fc.jsonValue()), fc.constantFrom(undefined, 1, '\t'), fc.boolean(), (values, indent, wrapped) => {
    const split = splitJsonDocument(JSON.stringify(wrapped ? { page: { next: [] }, rows: values } : values, null, indent));
    const records = 'records' in split ? split.records : [];
    expect(records.map((record) => JSON.parse(record) as unknown)).toEqual(JSON.parse(JSON.stringify(values)));
    expect(records.filter((record) => /[\r\n]/.test(record))).toEqual([]);
  }));
});
