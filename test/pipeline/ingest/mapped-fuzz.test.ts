import fc from 'fast-check';
import { expect } from 'vitest';
import { fileMappingSchema } from '../../../src/kit/intake/mapping/mapping-schema.ts';
import { settingsSchema } from '../../../src/kit/config/settings.ts';
import { it } from '../../support/landing-test.ts';
import { LogLanding } from '../../support/log-landing.ts';

/* No mapping and no file may end a run, or lose a row without a word. */

const places = ['id', 'click', 'user', 'at', 'sum', 'state', 'deep.er.key', 'list', 'nowhere', ''];
const place = fc.constantFrom(...places);
const zone = fc.constantFrom('UTC', 'Europe/Berlin', '+05:30');
const field = fc.oneof(
  { weight: 3, arbitrary: place },
  fc.record({ value: fc.constantFrom('x', 7, true, '2026-11-18T10:00:00Z', '1.5') }),
  fc.record(
    { at: fc.array(place, { minLength: 1, maxLength: 3 }), value: fc.constant('rest') },
    { requiredKeys: ['at'] },
  ),
  fc.record(
    { at: place, time: fc.constantFrom('epoch_s', 'epoch_ms', '%d.%m.%Y %H:%M', '%Y-%m-%d'), zone },
    { requiredKeys: ['at', 'time'] },
  ),
  fc.record({
    at: place,
    number: fc.record(
      {
        decimal: fc.constantFrom('.', ','),
        strip: fc.constant(['$', 'EUR']),
        scale: fc.constantFrom(-2, 2),
        round: fc.boolean(),
        sign: fc.constant('drop'),
      },
      { requiredKeys: [] },
    ),
  }),
  fc.record({
    at: place,
    words: fc.dictionary(
      fc.constantFrom('paid', 'open', '*', '', 'x'),
      fc.constantFrom('credit', 'reject', 'chargeback', 'pending', null),
    ),
  }),
  fc.record({ at: place, text: fc.constant('html'), trim: fc.constant(true), upper: fc.constant(true) }),
);
const condition = fc.record({ at: place, not: fc.array(fc.constantFrom('paid', 'open', 1, null), { minLength: 1 }) });

const clicksFields = fc.record(
  { click_id: field, offer_id: field, site_key: field, user_id: field, clicked_at: field, country: field, sub1: field },
  { requiredKeys: ['click_id', 'offer_id', 'site_key', 'user_id', 'clicked_at'] },
);
const conversionFields = fc.record(
  {
    conversion_id: field,
    click_id: field,
    occurred_at: field,
    payout: field,
    currency: field,
    event_id: field,
    changed_at: field,
    version: field,
    reason: field,
  },
  { requiredKeys: ['conversion_id', 'click_id', 'occurred_at'] },
);
const mapping = fc
  .oneof(
    fc.tuple(fc.constant('clicks'), clicksFields),
    fc.tuple(
      fc.constant('conversions'),
      fc
        .tuple(conversionFields, fc.constantFrom('kind', 'status'), field)
        .map(([fields, name, state]) => ({ ...fields, [name]: state })),
    ),
  )
  .chain(([kind, fields]) =>
    fc.record({ kind: fc.constant(kind), fields: fc.constant(fields), rows: fc.option(condition, { nil: undefined }) }),
  );

const cell = fc.oneof(
  fc.constantFrom(
    '',
    'paid',
    'open',
    '1794996000',
    '18.11.2026 10:00',
    '2026-11-18',
    '1,5',
    '$2.50',
    '\\N',
    'NULL',
    '<b>x</b>',
  ),
  fc.string({ maxLength: 12 }),
  fc.integer({ min: 0, max: 20 }).map(String),
);
const record = fc.record({ id: cell, click: cell, user: cell, at: cell, sum: cell, state: cell });
const csvCell = (text: string) => `"${text.replaceAll('"', '""').replaceAll('\0', '')}"`;
const file = fc.oneof(
  fc.array(record, { minLength: 1, maxLength: 12 }).map((records) => ({
    name: 'a.csv',
    records: records.length,
    text:
      ['id;click;user;at;sum;state', ...records.map((each) => Object.values(each).map(csvCell).join(';'))].join('\n') +
      '\n',
  })),
  fc.array(fc.tuple(record, fc.jsonValue()), { minLength: 1, maxLength: 12 }).map((records) => ({
    name: 'a.json',
    records: records.length,
    text: JSON.stringify(records.map(([each, more]) => ({ ...each, deep: { er: { key: more } }, list: [more] }))),
  })),
);

it('a mapping, whatever it says, ends no run and accounts for every record', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(mapping, file), { minLength: 3, maxLength: 5 }), async (pairs) => {
      await using landing = await LogLanding.create();
      const files: object[] = [];
      const landed = new Map<string, number>();
      for (const [index, [{ kind, ...says }, { name, text, records }]] of pairs.entries()) {
        const written = { match: `${kind}/of-${index}/**`, ...says };
        // What the configuration refuses never reaches a file.
        if (!fileMappingSchema.safeParse(written).success) continue;
        files.push(written);
        // Bytes count once per kind.
        const unlike = name.endsWith('.json') ? `${' '.repeat(index)}${text}` : `${'\n'.repeat(index)}${text}`;
        await landing.put(`${kind}/of-${index}/${name}`, unlike);
        landed.set(`${kind}/of-${index}/${name}`, records);
      }
      for (const rates of [{}, { EUR: '1.1' }]) {
        await landing.ingest({ settings: settingsSchema.parse({ files, rates }) });
        const rows = await landing.query<{
          path: string;
          status: string;
          counted: number;
          rows: number;
          aside: number;
        }>(
          `SELECT path, status, accepted + duplicates + rejected AS counted, rows,
             coalesce((SELECT sum(w.rows) FROM ingest_warnings AS w WHERE w.file_id = f.file_id AND warning IN ('passed_over', 'pending_conversion')), 0) AS aside
           FROM ingest_files AS f ORDER BY path`,
        );
        expect(rows.map(({ path }) => path)).toEqual([...landed.keys()].toSorted());
        for (const { path, status, counted, rows: all, aside } of rows) {
          expect([path, counted]).toEqual([path, all]);
          const records = landed.get(path) ?? 0;
          // A row of state may become two events.
          const most = path.startsWith('conversions') ? 2 * records : records;
          expect([path, status, all + aside >= records, all + aside <= most]).toEqual([path, 'loaded', true, true]);
        }
      }
    }),
    { numRuns: 25, endOnFailure: true },
  );
});
