import fc from 'fast-check';
import { gzipSync } from 'node:zlib';
import { click, conversion, csv } from '../../../support/log-landing.ts';
import { parquet } from '../../../support/parquet.ts';

/** A file for the landing folder: `name` as `kind/name.ending`. */
export interface LandedFile {
  name: string;
  content: Uint8Array;
}

/** A catalog record, so that offers are fuzzed by the same lines. */
const offer = (name: string) => ({
  external_id: name,
  title: `Offer ${name}`,
  payout: '1.5',
  countries: ['DE'],
  events: [],
});
const id = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');
/** Values as broken senders write them. */
const oddJson = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.stringify(value)),
  fc.constantFrom(
    'NaN',
    '-Infinity',
    'nan',
    '1e400',
    '1e20',
    '-0',
    '01',
    '9007199254740993',
    '0.3000000000000000001',
    '""',
    '"\\u0000"',
    '"\\ud800"',
    '[,]',
    '{"payout":5}',
    "'x'",
    'null',
    '"2026-11-18"',
    '"0000-01-01T00:00:00+18:00"',
    '"9999-12-31T23:59:59-18:00"',
  ),
);
const field = fc.constantFrom(
  'click_id',
  'conversion_id',
  'offer_id',
  'source',
  'external_id',
  'site_key',
  'user_id',
  'clicked_at',
  'occurred_at',
  'kind',
  'payout',
  'title',
  'description',
  'events',
  'countries',
  'currency',
  'stars',
  'id',
  'country',
  'device',
  'ip',
  'sub1',
  'event_id',
  'reason',
  'other',
  '__proto__',
  '$',
  'raw',
);
const oddRecord = fc
  .tuple(
    fc.constantFrom<((name: string) => object)[]>(click, conversion, offer),
    id,
    fc.array(fc.tuple(field, oddJson), { maxLength: 3 }),
    fc.constantFrom('', ' ', ',', '/**/', '\u0001\u0002'),
  )
  .map(([record, name, fields, end]) => {
    const known = Object.entries(record(name))
      .filter(([key]) => !fields.some(([other]) => other === key))
      .map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`);
    return `{${[...known, ...fields.map(([key, value]) => `${JSON.stringify(key)}:${value}`)].join(',')}${end}}`;
  });
const goodLine = fc
  .tuple(fc.constantFrom<((name: string) => object)[]>(click, conversion, offer), id)
  .map(([record, name]) => JSON.stringify(record(name)));
const garbage = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.constantFrom(
    '"',
    '""',
    ',',
    ',,,,,',
    '{',
    '[',
    '\r',
    '\n',
    '\r\n',
    '\ufeff',
    '\0',
    '\u0001\u0002',
    '\u0001',
    '   ',
    '\t',
    '\u2028',
    'null',
    '"\n',
    '\\',
    'PAR1',
  ),
);
const line = fc.oneof(
  { weight: 4, arbitrary: goodLine },
  { weight: 4, arbitrary: oddRecord },
  { weight: 2, arbitrary: garbage },
);
const end = fc.constantFrom('\n', '\n', '\r\n', '\n\n', '\r', '');
const lines = fc.array(fc.tuple(line, end), { maxLength: 12 }).map((rows) => rows.map((row) => row.join('')).join(''));

const cell = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom('a', 'b', '7', 's', 'credit', '2026-11-18T10:00:00Z', '') },
  { weight: 1, arbitrary: garbage },
  { weight: 1, arbitrary: fc.constantFrom('"x"', '"a ""b"""', '"two\nlines"', '"open', 'mid"dle') },
);
const cells = fc
  .array(
    fc.tuple(
      fc.array(cell, { minLength: 4, maxLength: 9 }).map((row) => row.join(',')),
      end,
    ),
    { maxLength: 8 },
  )
  .map((rows) => rows.map((row) => row.join('')).join(''));
const goodCsv = fc
  .tuple(
    fc.constantFrom<((name: string) => Record<string, unknown>)[]>(click, conversion, offer),
    fc.array(id, { minLength: 1, maxLength: 4 }),
  )
  .map(([record, ids]) => csv(ids.map((name) => record(name))));
const csvText = fc.tuple(goodCsv, cells).map(([good, more]) => good + more);

const document = fc.oneof(
  fc.array(fc.oneof(goodLine, oddRecord, oddJson), { maxLength: 6 }).map((rows) => `[${rows.join(', \n')}]`),
  fc.json(),
  lines,
);

/** Where and by what bytes a file is damaged. */
const damage = fc.option(
  fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.uint8Array({ minLength: 1, maxLength: 4 }), fc.boolean()),
  { freq: 3, nil: null },
);
type Damage = [at: number, bytes: Uint8Array, cut: boolean] | null;

function damaged(content: Uint8Array, how: Damage): Uint8Array {
  if (how === null) return content;
  const [at, bytes, cut] = how;
  const position = Math.floor(at * content.length);
  return cut
    ? content.subarray(0, position)
    : Buffer.concat([content.subarray(0, position), bytes, content.subarray(position + bytes.length)]);
}

const text = (ending: string, arbitrary: fc.Arbitrary<string>) =>
  fc.tuple(
    fc.constant(ending),
    arbitrary.map((content): Uint8Array => Buffer.from(content, 'utf8')),
  );

/** Files of all kinds and formats, good and broken ones, as fast-check draws them. */
export async function landedFile(): Promise<fc.Arbitrary<LandedFile>> {
  const tables = await Promise.all([
    parquet(
      `SELECT 'p' || range AS click_id, range + 1 AS offer_id, 's' AS site_key, 'u' AS user_id, TIMESTAMPTZ '2026-11-18 10:00:00+00' AS clicked_at FROM range(40)`,
    ),
    parquet(
      `SELECT range AS click_id, 'net' AS source, 1.5 AS external_id, ['s'] AS site_key, {'u': 1} AS user_id, 'infinity'::TIMESTAMP AS clicked_at, '\\xAA'::BLOB AS sub1, DATE '2020-01-01' AS country FROM range(9)`,
    ),
    parquet(
      `SELECT range AS click_id, 'net' AS source, 1.5 AS external_id, ['s'] AS site_key, 'nan'::DOUBLE AS user_id, 'infinity'::TIMESTAMP AS clicked_at, '\\xAA'::BLOB AS other, encode('é') AS sub1, 1e300 AS offer_id FROM range(9)`,
    ),
  ]);
  return fc
    .tuple(
      fc.constantFrom('clicks', 'conversions', 'offers/net'),
      fc.oneof(
        text('ndjson', lines),
        text('csv', csvText),
        text('json', document),
        fc.tuple(fc.constant('parquet'), fc.constantFrom<Uint8Array>(...tables)),
      ),
      fc.boolean(),
      damage,
    )
    .map(([kind, [ending, content], packed, how]) => {
      const pack = packed && ending !== 'parquet';
      return {
        name: `${kind}/${ending}${pack ? '-packed' : ''}.${ending}${pack ? '.gz' : ''}`,
        content: damaged(pack ? gzipSync(content) : content, how),
      };
    });
}
