import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CatalogWarehouse, record, type Row } from '../../../support/catalog-warehouse.ts';
import { slow } from '../../../support/slow.ts';

const asOf = '2026-01-01T00:00:00Z';

it('counts duplicates and those that say something else; the first one wins', async () => {
  await using warehouse = await CatalogWarehouse.create();
  await warehouse.run(asOf, {
    name: '1.ndjson',
    modified: 1,
    rows: [record('a'), record('a', { payout: 1 }), record('a', { payout: '5' }), record('b')],
  });
  expect(await warehouse.query('SELECT rows, accepted, duplicates, conflicts, rejected FROM ingest_files')).toEqual([
    { rows: '4', accepted: '2', duplicates: '2', conflicts: '1', rejected: '0' },
  ]);
  expect(await warehouse.versions('a')).toMatchObject([{ payout: '1.000000' }]);
});

it('counts warnings by row, unknown fields once a file', async () => {
  await using warehouse = await CatalogWarehouse.create();
  await warehouse.run(asOf, {
    name: '1.ndjson',
    modified: 1,
    rows: [
      record('a', { colour: 1, stars: 9 }),
      record('b', { colour: 2, stars: 9, size: 1 }),
      record('c', { countries: ['US', 'Mars', 'Venus'] }),
      record('d', { payout: 'x', stars: 9 }),
    ],
  });
  expect(await warehouse.query('SELECT warning, field, rows FROM ingest_warnings ORDER BY ALL')).toEqual([
    { warning: 'bad_countries', field: 'countries', rows: '1' },
    { warning: 'bad_stars', field: 'stars', rows: '2' },
    { warning: 'unknown_field', field: 'colour', rows: '2' },
    { warning: 'unknown_field', field: 'size', rows: '1' },
  ]);
  expect(await warehouse.query('SELECT warnings FROM ingest_files')).toEqual([{ warnings: '5' }]);
});

it("keeps the file's digest, size, time to the nanosecond and run", async () => {
  await using warehouse = await CatalogWarehouse.create();
  const { files } = await warehouse.run(asOf, { name: '1.ndjson', modified: 1_767_225_600, rows: [record('a')] });
  expect(
    await warehouse.query(
      "SELECT * REPLACE (strftime(ingested_at, '%Y-%m-%dT%H:%M:%SZ') AS ingested_at) FROM ingest_files",
    ),
  ).toEqual(
    files.map((entry) =>
      Object.fromEntries(
        Object.entries(entry).map(([name, value]) => [
          name,
          ['number', 'bigint'].includes(typeof value) ? String(value) : value,
        ]),
      ),
    ),
  );
  expect(files).toMatchObject([
    {
      modified_ns: 1_767_225_600_000_000_000n,
      kind: 'offers',
      source: 'net',
      run_id: 1,
      ingested_at: '2026-06-01T00:00:00Z',
    },
  ]);
});

it('understands text cells of CSV and Parquet', async () => {
  await using warehouse = await CatalogWarehouse.create();
  await warehouse.run(asOf, {
    name: '1.csv',
    format: 'csv',
    modified: 1,
    rows: [
      record('a', {
        countries: 'US|DE',
        title: '{"de":"Spiel"}',
        payout: '',
        events: '[{"event_id":"e","payout":0.30}]',
      }),
    ],
  });
  expect(await warehouse.query('SELECT titles, payout, countries FROM offer_versions')).toEqual([
    { titles: '{"de":"Spiel"}', payout: '0.300000', countries: ['DE', 'US'] },
  ]);
});

it('names rows of CSV that have too few or too many cells', async () => {
  await using warehouse = await CatalogWarehouse.create();
  await warehouse.run(asOf, { name: '1.csv', format: 'csv', modified: 1, rows: ['["a","Game"]', record('b')] });
  expect(await warehouse.query('SELECT line, reason FROM rejects')).toEqual([
    { line: '1', reason: 'wrong_cell_count' },
  ]);
});

it('raw text is kept as it stood, with whatever it holds', async () => {
  await using warehouse = await CatalogWarehouse.create();
  const raw = '{"external_id": "a\u0000", \'"\\ü🎮';
  await warehouse.run(asOf, { name: '1.ndjson', modified: 1, rows: [raw, record('b')] });
  expect(await warehouse.query('SELECT path, line, raw FROM rejects')).toEqual([
    { path: 'offers/net/1.ndjson', line: '1', raw },
  ]);
});

it('rows = accepted + duplicates + rejected, and as many rejects are kept, whatever the file holds', slow, async () => {
  await using warehouse = await CatalogWarehouse.create();
  const row: fc.Arbitrary<Row> = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        external_id: fc.constantFrom('a', 'b', 'c', 'd'),
        title: fc.string(),
        payout: fc.constantFrom('1', '2', -1),
        id: fc.constantFrom(null, 7, 8),
      }),
    },
    { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
  );
  let modified = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 12 }), async (rows) => {
      modified++;
      await warehouse.run(asOf, { name: `${modified}.ndjson`, modified, rows });
    }),
    { numRuns: 40 },
  );
  expect(
    await warehouse.query(
      `SELECT file_id FROM ingest_files WHERE rows <> accepted + duplicates + rejected
       OR rejected <> (SELECT count(*) FROM rejects WHERE rejects.file_id = ingest_files.file_id)
       OR warnings <> (SELECT coalesce(sum(w.rows), 0) FROM ingest_warnings w WHERE w.file_id = ingest_files.file_id)`,
    ),
  ).toEqual([]);
  expect(await warehouse.query('SELECT count(*) AS files FROM ingest_files')).toEqual([{ files: '40' }]);
  // No offer ever has two ids, and versions are numbered without a gap, each after the one before.
  expect(
    await warehouse.query(
      `SELECT offer_id FROM (SELECT offer_id, version, valid_from, row_number() OVER of_offer AS nth, lag(valid_from) OVER of_offer AS previous
     FROM offer_versions WINDOW of_offer AS (PARTITION BY offer_id ORDER BY version)) WHERE nth <> version OR previous >= valid_from`,
    ),
  ).toEqual([]);
});
