import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { queryRows } from '../../../../src/kit/duckdb/dialect/rows.ts';
import { insertRows } from '../../../../src/kit/duckdb/insert-rows.ts';
import { inMemory, withDuckDB } from '../../../../src/kit/duckdb/open.ts';
import { makeEmptyTempTable } from '../../../../src/kit/duckdb/temp-table.ts';
import { moneyText, parseMoney } from '../../../../src/kit/text/decimal-text.ts';
import { readTimestamp } from '../../../../src/kit/time/timestamp-text.ts';
import { clickSchema, conversionSchema, type LogSchema } from '../../../../src/pipeline/landing/logs/log-fields.ts';
import { parsedLog } from '../../../../src/pipeline/landing/logs/log-parser.ts';
import { click, conversion } from '../../../support/log-landing.ts';

/* The SQL of logs and the reader of catalogs and reports are two: they must read every spelling alike. */

const wallClock = '2026-11-20T00:00:00Z';

/** The value of a field of each record, or why the row is rejected. */
async function parsed(schema: LogSchema, field: string, records: readonly object[]): Promise<string[]> {
  return withDuckDB(inMemory, { threads: '1' }, async (connection) => {
    await connection.run(`SET TimeZone = 'UTC'`);
    const table = await makeEmptyTempTable(connection, 'spelled_rows', 'file_id BIGINT, line BIGINT, raw VARCHAR');
    const types = { file_id: 'BIGINT', line: 'BIGINT', raw: 'VARCHAR' } as const;
    const rows = records.map((record, index) => ({ file_id: 1, line: index + 1, raw: JSON.stringify(record) }));
    await insertRows(connection, table, types, rows);
    const found = await queryRows<{ value: string | null; reason: string | null }>(
      connection,
      `SELECT ${field} AS value, reject->>'reason' AS reason FROM (${parsedLog(schema, 'spelled_rows')}) ORDER BY coalesce((reject->>'line')::BIGINT, line)`,
    );
    return found.map(({ value, reason }) => reason ?? String(value));
  });
}

const times = (texts: readonly (string | number)[], timeZone?: string) =>
  parsed(
    clickSchema({ wallClock, timeZone }),
    'clicked_at',
    texts.map((text, index) => ({ ...click(`c-${index}`), clicked_at: text })),
  );

function timeByReader(text: string, timeZone?: string): string {
  const read = readTimestamp(text, new Date(wallClock), timeZone);
  if ('moment' in read) return read.moment;
  return read.fault === 'malformed' ? 'bad_clicked_at' : read.fault;
}

const payouts = (texts: readonly string[]) =>
  parsed(
    conversionSchema({ wallClock }),
    'payout::VARCHAR',
    texts.map((text, index) => ({ ...conversion(`v-${index}`), payout: text })),
  );

const payoutByReader = (text: string) => {
  const amount = parseMoney(text);
  return amount === undefined ? 'bad_payout' : moneyText(amount);
};

describe('timestamps', () => {
  const ten = '2026-11-18T10:00:00Z';
  it.each([
    ['2026-11-18 10:00:00 UTC', ten],
    ['2026-11-18 10:00:00.123456 UTC', '2026-11-18T10:00:00.123456Z'],
    ['2026-11-18 10:00:00+00', ten],
    ['2026-11-18 15:30:00.5+05:30', '2026-11-18T10:00:00.500000Z'],
    ['2026-11-18 10:00:00.000 Z', ten],
    ['2026-11-18 10:00:00.000 +0000', ten],
    ['2026-11-18T10:00:00.000+0000', ten],
    ['2026-11-18T10:00Z', ten],
    ['2026-11-18 11:00 +01', ten],
    ['2026-11-18T10:00:00 GMT', ten],
    ['1794996000', '2026-11-18T10:00:00Z'],
    ['1794996000000', '2026-11-18T10:00:00Z'],
    ['1794996000123', '2026-11-18T10:00:00.123000Z'],
    ['1794996000123456', '2026-11-18T10:00:00.123456Z'],
    ['1794996000123456789', '2026-11-18T10:00:00.123456Z'],
    ['1794996000.0', '2026-11-18T10:00:00Z'],
    ['1794996000.123', 'bad_clicked_at'],
    ['179499600', 'bad_clicked_at'],
    ['17949960001', 'bad_clicked_at'],
    ['18/Nov/2026:10:00:00 +0000', 'bad_clicked_at'],
    ['2026-11-18T10:00', 'timestamp_without_offset'],
    ['2026-11-18', 'bad_clicked_at'],
    ['2026-02-30T10:00Z', 'bad_clicked_at'],
    ['1894996000', 'future_timestamp'],
  ])('%s is %s', async (text, expected) => {
    expect(timeByReader(text)).toBe(expected);
    expect(await times([text])).toEqual([expected]);
  });

  it('are read alike from any piece of their spellings, with and without a zone', async () => {
    const piece = (...texts: string[]) => fc.constantFrom(...texts);
    const spelling = fc
      .tuple(
        piece('2026-11-18', '2026-03-29', '2016-12-31', '18-11-2026', '0001-01-01'),
        piece('T', ' ', 't', '', '  '),
        piece('10:00', '02:30', '23:59', '24:00', '9:00'),
        piece('', ':00', ':59.9999999', ':60', ':60.5', ':61', '.5'),
        piece('', ' ', '  '),
        piece(
          '',
          'Z',
          'z',
          'UTC',
          'gmt',
          'Utc',
          '+00',
          '-0530',
          '+05:45',
          '+18:00',
          '-18',
          '+1801',
          '+19',
          '+2',
          'CET',
        ),
      )
      .map((parts) => parts.join(''));
    const digits = fc.bigInt({ min: 0n, max: 10n ** 20n }).map(String);
    const number = fc.tuple(digits, piece('', '.0', '.00', '.5', '0')).map((parts) => parts.join(''));
    const text = fc.oneof({ weight: 4, arbitrary: spelling }, number);
    await fc.assert(
      fc.asyncProperty(
        fc.array(text, { minLength: 40, maxLength: 80 }),
        fc.constantFrom(undefined, 'Europe/Berlin', '+02:00', '-0500'),
        async (texts, zone) => {
          const found = await times(texts, zone);
          expect(texts.map((each, index) => [each, found[index]])).toEqual(
            texts.map((each) => [each, timeByReader(each, zone)]),
          );
        },
      ),
      { numRuns: 20 },
    );
  });
});

describe('amounts', () => {
  it.each([
    ['1.25000000', '1.25'],
    ['1.5e0', '1.5'],
    ['15E-1', '1.5'],
    ['1e+05', '100000'],
    [' 1.5', '1.5'],
    ['.5', '0.5'],
    ['.0', '0'],
    ['+1.5', '1.5'],
    ['0.000001', '0.000001'],
    ['29.949999999999999', 'bad_payout'],
    ['0.30000000000000004', 'bad_payout'],
    ['1e-7', 'bad_payout'],
    ['1e9', 'bad_payout'],
    ['-1', 'bad_payout'],
    ['1,5', 'bad_payout'],
    ['$1', 'bad_payout'],
    ['.', 'bad_payout'],
    ['e5', 'bad_payout'],
    [' ', 'bad_payout'],
  ])('"%s" is %s', async (text, expected) => {
    expect(payoutByReader(text)).toBe(expected);
    expect((await payouts([text])).map(shortest)).toEqual([expected]);
  });

  it('are read alike in any spelling', async () => {
    const part = (...texts: string[]) => fc.constantFrom(...texts);
    const spelling = fc
      .tuple(
        part('', ' ', '\t', '+', '-', '++'),
        part('', '0', '7', '012', '999999999', '1234567890', '999999999999999999'),
        part('', '.', '.5', '.500000000', '.1234567', '.123456000', '.000001', '.0000001'),
        part('', 'e0', 'E3', 'e-3', 'e+09', 'e-10', 'e', 'e99'),
        part('', ' ', 'x'),
      )
      .map((parts) => parts.join(''));
    await fc.assert(
      fc.asyncProperty(fc.array(spelling, { minLength: 40, maxLength: 80 }), async (texts) => {
        const found = await payouts(texts);
        const bySql = texts.map((each, index) => [each, shortest(found[index] ?? '')]);
        // An empty text is no amount for either, and absent where a cell holds it.
        expect(bySql).toEqual(texts.map((each) => [each, payoutByReader(each)]));
      }),
      { numRuns: 20 },
    );
  });
});

const shortest = (text: string) => (/^\d/.test(text) ? moneyText(parseMoney(text) ?? 0n) : text);

it('a whole number may be written with noughts behind its point', async () => {
  const ids = ['17.0', '17.00', '17', '17.5', '017', '1e1'];
  const records = ids.map((offer_id, index) => ({ ...click(`c-${index}`), offer_id }));
  expect(await parsed(clickSchema({ wallClock }), 'offer_id::VARCHAR', records)).toEqual([
    '17',
    '17',
    '17',
    'bad_offer_id',
    '17',
    'bad_offer_id',
  ]);
});
