import { describe, expect } from 'vitest';
import { it } from '../../../support/landing-test.ts';
import { parquet } from '../../../support/parquet.ts';

/** Strings as writers leave them that do not mark them as UTF-8: Impala, older Hive and Spark. */
const unmarked = (text: string) => `encode('${text}')`;
const clicks = (columns: string, from = '') =>
  parquet(`SELECT * REPLACE (${columns}) FROM (
    SELECT 'c' AS click_id, 7 AS offer_id, 's' AS site_key, 'u' AS user_id, TIMESTAMPTZ '2026-11-18 10:00:00+00' AS clicked_at,
      NULL AS sub1, NULL AS other) ${from}`);
const conversions = (column: string, values: string, prefix = 'v') =>
  parquet(`SELECT '${prefix}' || row_number() OVER () AS conversion_id, 'c' AS click_id, 'credit' AS kind,
      TIMESTAMPTZ '2026-11-18 10:00:00+00' AS occurred_at, ${column} FROM (VALUES ${values}) AS t (${column})`);

describe('text of Parquet', () => {
  it('is text, whether or not it is marked as UTF-8', async ({ landing }) => {
    await landing.put(
      'clicks/a.parquet',
      await clicks(
        `${unmarked('c-1')} AS click_id, ${unmarked('zoë')} AS user_id, ${unmarked('2026-11-18T10:00:00Z')} AS clicked_at, ${unmarked('ü"x')} AS sub1`,
      ),
    );
    await landing.put(
      'offers/net/a.parquet',
      await parquet(`SELECT ${unmarked('é-1')} AS external_id, MAP {${unmarked('de')}: ${unmarked('Zoë')}} AS title,
        [${unmarked('Müsli')}, ${unmarked('b')}] AS categories, [{event_id: ${unmarked('lvl')}, payout: ${unmarked('1.5')}}] AS events`),
    );
    await landing.ingest();
    expect(await landing.rejects()).toEqual([]);
    expect(await landing.events('clicks', 'click_id, user_id, sub1')).toEqual([
      { click_id: 'c-1', user_id: 'zoë', sub1: 'ü"x' },
    ]);
    expect(
      await landing.query(
        'SELECT external_id, titles, categories, payout FROM offers JOIN offer_versions USING (offer_id)',
      ),
    ).toEqual([{ external_id: 'é-1', titles: '{"de":"Zoë"}', categories: ['Müsli', 'b'], payout: '1.500000' }]);
  });

  it('that is no UTF-8 quarantines the file, like any text; bytes under another name do not', async ({ landing }) => {
    await landing.put('clicks/a.parquet', await clicks(`'zo\\xEB'::BLOB AS user_id`));
    await landing.put('clicks/b.parquet', await clicks(`${unmarked('zoë')} AS user_id, '\\xFF\\x00'::BLOB AS other`));
    await landing.put('clicks/c.parquet', await clicks(`'c-2' AS click_id, 'POINT(1 2)'::GEOMETRY AS other`));
    await landing.ingest();
    expect(await landing.ledger()).toEqual([
      'clicks/a.parquet quarantined bad_utf8 0=0+0+0',
      'clicks/b.parquet loaded 1=1+0+0',
      'clicks/c.parquet loaded 1=1+0+0',
    ]);
    expect(await landing.events('clicks', 'user_id')).toEqual([{ user_id: 'zoë' }, { user_id: 'u' }]);
    expect(await landing.warnings()).toEqual([
      'clicks/b.parquet unknown_field other 1',
      'clicks/c.parquet unknown_field other 1',
    ]);
  });
});

describe('numbers of Parquet', () => {
  const ids = `(101.0), (12.5), (-3.0), (9007199254740991.0), (9007199254740992.0), (1.234e17), ('nan'), ('-inf'), (NULL)`;

  it('that are no integers are ids where they are whole and exact, else rejected', async ({ landing }) => {
    await landing.put(
      'clicks/a.parquet',
      await clicks(
        `'c' || row AS click_id, user AS user_id`,
        `, (SELECT row_number() OVER () AS row, user FROM (VALUES ${ids}) AS t (user))`,
      ),
    );
    await landing.put(
      'clicks/b.parquet',
      await clicks(`123.00::DECIMAL(38,2) AS user_id, 7.0::DOUBLE AS offer_id, 5.0::FLOAT AS click_id`),
    );
    await landing.put('clicks/c.parquet', await clicks(`['u'] AS user_id`));
    await landing.put('clicks/d.parquet', await clicks(`16777217.0::FLOAT AS user_id`));
    await landing.put('conversions/e.parquet', await conversions('event_id', `(3.0::DOUBLE), (3.5), ('nan')`));
    await landing.ingest();
    expect(await landing.events('clicks', 'click_id, user_id, offer_id')).toEqual([
      { click_id: '5', user_id: '123', offer_id: 7 },
      { click_id: 'c1', user_id: '101', offer_id: 7 },
      { click_id: 'c3', user_id: '-3', offer_id: 7 },
      { click_id: 'c4', user_id: '9007199254740991', offer_id: 7 },
    ]);
    expect(await landing.events('conversions', 'conversion_id, event_id')).toEqual([
      { conversion_id: 'v1', event_id: '3' },
    ]);
    expect(await landing.rejects()).toEqual([
      ...[2, 5, 6, 7, 8].map((line) => `clicks/a.parquet:${line} bad_user_id`),
      'clicks/a.parquet:9 missing_user_id',
      'clicks/c.parquet:1 bad_user_id',
      'clicks/d.parquet:1 bad_user_id',
      'conversions/e.parquet:2 bad_event_id',
      'conversions/e.parquet:3 bad_event_id',
    ]);
  });

  it('that are amounts keep every digit', async ({ landing }) => {
    await landing.put(
      'conversions/a.parquet',
      await conversions('payout', `(1.5::DOUBLE), (2.0), (1e-7), ('nan'), ('inf'), (0.1)`),
    );
    await landing.put(
      'conversions/b.parquet',
      await conversions('payout', `(12345678.1234560::DECIMAL(38,19)), (7), (0.1234560000000000001)`, 'w'),
    );
    await landing.ingest();
    expect(await landing.rejects()).toEqual([
      ...[3, 4, 5].map((line) => `conversions/a.parquet:${line} bad_payout`),
      'conversions/b.parquet:3 bad_payout',
    ]);
    expect(await landing.events('conversions', `conversion_id || ' ' || payout AS paid`)).toEqual(
      ['v1 1.500000', 'v2 2.000000', 'v6 0.100000', 'w1 12345678.123456', 'w2 7.000000'].map((paid) => ({ paid })),
    );
  });

  it('name the same offer and milestone, whatever their type', async ({ landing }) => {
    const titled = (id: string) =>
      parquet(`SELECT ${id} AS external_id, 'A' AS title, [{event_id: ${id}, payout: 1.25}] AS events`);
    const document = (id: string) =>
      `[{"external_id": ${id}, "title": "A", "events": [{"event_id": ${id}, "payout": 1.25}]}]`;
    const exports = [
      ['parquet', await titled('101')],
      ['parquet', await titled('101.0::DOUBLE')],
      ['parquet', await titled('101.00::DECIMAL(9,2)')],
      ['json', document('101.0')],
      ['json', document('1.01e+02')],
    ] as const;
    for (const [hour, [ending, content]] of exports.entries()) {
      await landing.putAt(`offers/net/${hour}.${ending}`, content, `2026-11-18T0${hour}:00:00Z`);
      await landing.ingest();
      expect(
        await landing.query(
          'SELECT external_id, count(*)::INTEGER AS versions FROM offers JOIN offer_versions USING (offer_id) GROUP BY ALL',
        ),
      ).toEqual([{ external_id: '101', versions: 1 }]);
    }
    const unknown = [
      ['parquet', await titled('101.5::DOUBLE')],
      ['parquet', await titled('1.234e17::DOUBLE')],
      ['json', document('101.5')],
      ['json', document('1.234e+17')],
      ['json', document('1e-2')],
    ] as const;
    for (const [minute, [ending, content]] of unknown.entries())
      await landing.putAt(`offers/other-${minute}/a.${ending}`, content, `2026-11-18T09:0${minute}:00Z`);
    await landing.ingest();
    expect(await landing.rejects()).toEqual(
      unknown.map(([ending], minute) => `offers/other-${minute}/a.${ending}:1 bad_external_id`),
    );
  });
});
