import fc from 'fast-check';
import { expect, it } from 'vitest';
import { insertRows } from '../../../../src/kit/duckdb/insert-rows.ts';
import { queryRows, type QueryRow } from '../../../../src/kit/duckdb/dialect/rows.ts';
import { inMemory, withDuckDB } from '../../../../src/kit/duckdb/open.ts';
import { makeEmptyTempTable } from '../../../../src/kit/duckdb/temp-table.ts';
import { clickSchema, conversionSchema, type LogSchema } from '../../../../src/pipeline/landing/logs/log-fields.ts';
import { parsedLog } from '../../../../src/pipeline/landing/logs/log-parser.ts';
import { click, conversion } from '../../../support/log-landing.ts';

/*
 * Most lines are shown to be plain at once, and then little is asked of them. A space before the brace changes nothing
 * that a line says and keeps it from being plain: so each line is read both ways.
 */

const reading = { wallClock: '2026-11-20T00:00:00Z' };

const awkwardValues = [
  'true',
  'false',
  'null',
  'NaN',
  'nan',
  'Infinity',
  '-Infinity',
  'inf',
  '-0',
  '0',
  '-5',
  '1e5',
  '1E2',
  '5e-2',
  '1.0',
  '2.50',
  '0.05',
  '0.30',
  '1e21',
  '1e400',
  '12345678901234567890',
  '9007199254740993',
  '01',
  '+1',
  '.5',
  '0.3000000000000000001',
  '1.0e2',
  '{"payout":5}',
  '{"ip":"1"}',
  '[1,"a"]',
  '[]',
  '{}',
  '{"a":1e5}',
  "'x'",
  String.raw`"\""`,
  String.raw`"\\"`,
  String.raw`"\\\\"`,
  String.raw`"\/"`,
  '"\\u0041"',
  '"\\u0000"',
  '"\\ud800"',
  '"\\ud83d\\ude00"',
  String.raw`"a\",\"ip\":\"b"`,
  String.raw`"\n"`,
  '"\t"',
  '"\u007f"',
  '""',
  '"a, "',
  '": b"',
  '",,"',
  '"{"',
  '"[1]"',
  '"/*"',
  '"2026-11-18T10:00:00Z"',
  '"2026-11-18 10:00:60+00:00"',
];
/** Values as JSON text. */
const value = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom('"a"', '"7"', '7', '"é"', '"1.5"', '1.5', '"true"', '"DE"', '"ios"', '"x y"'),
  },
  { weight: 1, arbitrary: fc.string({ maxLength: 8 }).map((text) => JSON.stringify(text)) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 1 }).map((any) => JSON.stringify(any)) },
  {
    weight: 4,
    arbitrary: fc.constantFrom(...awkwardValues),
  },
);
const separators = fc.oneof(
  { weight: 6, arbitrary: fc.constant([':', ',', '{', '}'] as const) },
  { weight: 2, arbitrary: fc.constant([': ', ', ', '{', '}'] as const) },
  {
    weight: 1,
    arbitrary: fc.tuple(
      fc.constantFrom(':', ' :', ':  ', ':/**/'),
      fc.constantFrom(',', ',,', ' , ', ',\t'),
      fc.constantFrom('{', '{ ', '[', ''),
      fc.constantFrom('}', ',}', ' }', '} ', '}x', '', '/**/}', '}{'),
    ),
  },
);
const keys = [
  'click_id',
  'conversion_id',
  'offer_id',
  'source',
  'external_id',
  'site_key',
  'user_id',
  'clicked_at',
  'kind',
  'occurred_at',
  'payout',
  'event_id',
  'reason',
  'country',
  'device',
  'ip',
  'user_agent',
  'sub1',
  'sub2',
  'other',
  '',
  'IP',
  String.raw`\u0069p`,
  String.raw`x\"ip`,
];
const key = fc.constantFrom(...keys);

/** A good record with some fields changed, added or repeated, often in the order in which senders write them. */
function lineOf(record: Record<string, unknown>): fc.Arbitrary<string> {
  const good = Object.entries(record).map(([name, content]) => [name, JSON.stringify(content)] as const);
  const places = fc.tuple(fc.nat({ max: good.length }), fc.boolean());
  return fc
    .tuple(fc.array(fc.tuple(key, value, places), { maxLength: 3 }), fc.boolean(), separators)
    .map(([changes, reversed, [colon, comma, open, close]]) => {
      const members = reversed ? good.toReversed() : [...good];
      for (const [name, content, [place, repeats]] of changes) {
        const known = repeats ? -1 : members.findIndex(([other]) => other === name);
        members.splice(known < 0 ? place : known, known < 0 ? 0 : 1, [name, content]);
      }
      return `${open}${members.map(([name, content]) => `"${name}"${colon}${content}`).join(comma)}${close}`;
    });
}

const rich = { country: 'DE', device: 'ios', ip: '198.18.0.1', user_agent: 'Mozilla/5.0', sub1: '7', sub2: 'x' };
const clickLine = fc.oneof(lineOf(click('c1')), lineOf(click('1a', rich)), lineOf({ ...click('c'), ...rich }));
/** As long as it would be with all the spaces and without what it repeats. */
const repeated =
  '{"reason":"r","payout":1.25,"payout":"a","event_id":"e","occurred_at":"2026-11-18T10:30:00Z","kind":"credit","click_id":"c1","conversion_id":"v4"}';
const conversionLine = fc.oneof(
  fc.constant(repeated),
  lineOf(conversion('v1')),
  lineOf(conversion('v2', { event_id: 'e', payout: 1.25, reason: 'r' })),
  lineOf(conversion('v3', { payout: '2.50' })),
);
const garbage = fc.constantFrom('5', '"x"', '{}', '[1]', 'null', '{', '{"click_id":"c"', 'NaN', '\u0001', '[{}]');

it.each<{ schema: LogSchema; line: fc.Arbitrary<string> }>([
  { schema: clickSchema(reading), line: clickLine },
  { schema: conversionSchema(reading), line: conversionLine },
])(
  'lines of $schema.kind say the same, whether they are shown to be plain or looked at closely',
  async ({ schema, line }) => {
    const lines = fc.array(fc.oneof({ weight: 12, arbitrary: line }, { weight: 1, arbitrary: garbage }), {
      minLength: 40,
      maxLength: 120,
    });
    let accepted = 0;
    await withDuckDB(inMemory, { threads: '1' }, async (connection) => {
      await fc.assert(
        fc.asyncProperty(lines, async (raws) => {
          const rows = await makeEmptyTempTable(connection, 'candidates', 'file_id BIGINT, line BIGINT, raw VARCHAR');
          await insertRows(
            connection,
            rows,
            { file_id: 'BIGINT', line: 'BIGINT', raw: 'VARCHAR' },
            raws.flatMap((raw, index) => [
              { file_id: 1, line: index, raw },
              { file_id: 2, line: index, raw: ` ${raw}` },
            ]),
          );
          const read = await queryRows<QueryRow & { reason: string | null }>(
            connection,
            `SELECT * EXCLUDE (reject), reject->>'reason' AS reason FROM (${parsedLog(schema, rows)}) ORDER BY file_id, line`,
          );
          const [atOnce, closely] = [1, 2].map((file) =>
            read
              .filter((row) => row['file_id'] === file)
              .map((row) => ({ ...row, file_id: 0, raw: raws[Number(row['line'])] })),
          );
          expect(atOnce).toEqual(closely);
          accepted += read.filter(({ reason }) => reason === null).length;
        }),
        { numRuns: 40, seed: 20_261_122 },
      );
    });
    expect(accepted).toBeGreaterThan(500);
  },
);
