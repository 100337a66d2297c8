import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { readingVersion } from '../../../src/pipeline/ingest/catalog/reading-digest.ts';
import { CatalogWarehouse, record, type Row } from '../../support/catalog-warehouse.ts';

const source = fileURLToPath(new URL('../../../src', import.meta.url));

/** External ids of the offers whose record was read by the last of some runs, an hour of the clock after each other. */
async function readByTheLast(warehouse: CatalogWarehouse, ...exports: Row[][]): Promise<unknown[]> {
  for (const [place, rows] of exports.entries()) {
    warehouse.wallClock = new Date(Date.parse('2026-06-01T00:00:00Z') + place * 3_600_000);
    await warehouse.run(`2026-01-0${place + 1}T00:00:00Z`, { name: `${place}.ndjson`, modified: place, rows });
  }
  const read = await warehouse.query(
    `SELECT external_id FROM offer_records JOIN offers USING (offer_id)
     WHERE read_at = TIMESTAMPTZ '${warehouse.wallClock.toISOString()}' ORDER BY external_id`,
  );
  return read.map(({ external_id }) => external_id);
}

it('reads of a second export what is new or says something else, whatever its place', async () => {
  await using warehouse = await CatalogWarehouse.create();
  const again = [record('d'), record('c'), record('b', { payout: '2' }), record('a')];
  expect(await readByTheLast(warehouse, [record('a'), record('b'), record('c')], again)).toEqual(['b', 'd']);
});

it('counts the warnings and the currencies of records that it does not read', async () => {
  await using warehouse = await CatalogWarehouse.create({ rates: { EUR: '1.1' } });
  const rows = [record('a', { colour: 'red', currency: 'EUR' }), record('b', { stars: 9 })];
  expect(await readByTheLast(warehouse, rows, rows)).toEqual([]);
  const warned = `SELECT file_id, string_agg(warning || ' ' || field, ', ' ORDER BY warning) AS of FROM ingest_warnings GROUP BY file_id ORDER BY file_id`;
  const both = 'bad_stars stars, unknown_field colour';
  expect(await warehouse.query(warned)).toEqual([
    { file_id: '1', of: both },
    { file_id: '2', of: both },
  ]);
  expect(await warehouse.query(`SELECT DISTINCT read_with->>'$.rates.EUR' AS rate FROM ingest_files`)).toEqual([
    { rate: '1.1' },
  ]);
});

it('reads every record again by another rate, zone or form of the file', async () => {
  await using warehouse = await CatalogWarehouse.create();
  const rows = [record('a')];
  for (const [place, change] of [
    {},
    { rates: { EUR: '1' } },
    { sources: { net: { mode: 'full', time_zone: 'Asia/Tokyo' } } },
  ].entries()) {
    warehouse.configure(change as Parameters<typeof warehouse.configure>[0]);
    await warehouse.run('2026-01-01T00:00:00Z', { name: `${place}.ndjson`, modified: place, rows });
  }
  await warehouse.run('2026-01-01T00:00:00Z', { name: '9.csv', modified: 9, rows, format: 'csv' });
  const readings = await warehouse.query('SELECT DISTINCT read_as_sha256 FROM offer_records');
  expect(readings).toHaveLength(1);
  await warehouse.run('2026-01-01T00:00:00Z', { name: '10.ndjson', modified: 10, rows });
  expect(await warehouse.query('SELECT DISTINCT read_as_sha256 FROM offer_records')).not.toEqual(readings);
});

it('takes a returning offer, its date, and a second row about a known one as if nothing were known', async () => {
  await using warehouse = await CatalogWarehouse.create();
  const dated = record('a', { created_at: '2025-12-05T00:00:00Z' });
  const others = Array.from({ length: 9 }, (_, index) => record(`o${index}`));
  await readByTheLast(warehouse, [dated, ...others], others, [
    { ...dated, created_at: '2025-12-06T00:00:00Z' },
    ...others,
  ]);
  expect((await warehouse.versions('a')).map(({ created }) => created)).toEqual(['05', '05', '05']);
  const returned = { ...dated, created_at: '2025-12-06T00:00:00Z' };
  await warehouse.run('2026-01-04T00:00:00Z', {
    name: '4.ndjson',
    modified: 4,
    rows: [returned, ...others, others[0] ?? '', record('o1', { payout: '5' })],
  });
  expect((await warehouse.versions('a')).map(({ created }) => created)).toEqual(['05', '05', '05', '06']);
  expect((await warehouse.ledger()).at(-1)).toBe('4.ndjson loaded 12=10+2+0');
  expect(await warehouse.query('SELECT sum(conflicts)::INTEGER AS conflicts FROM ingest_files')).toEqual([
    { conflicts: 1 },
  ]);
});

/** Of all code that makes an offer of a record, without comments, imports, `export` and blanks. */
const ofReading = '5c334aa888a61cfbf76da42ac79f9cc77b20058772859ea6daa1aed0d05799dd';

it('has another version where the code that reads records is another', () => {
  const reached = new Set(['pipeline/landing/catalog/offer-record.ts', 'pipeline/ingest/catalog/catalog-content.ts']);
  const code: string[] = [];
  for (const file of reached) {
    const text = readFileSync(join(source, file), 'utf8');
    for (const [, name = ''] of text.matchAll(/^(?:import|export)\b[^'";]*?from '(\.[^']+)'/gm))
      reached.add(relative(source, join(source, dirname(file), name)));
    const bare = text.replaceAll(/^import\b[^;]*;/gm, '').replaceAll(/^\s*(?:\/\/|\/\*\*|\*).*$|^export /gm, '');
    code.push(bare.replaceAll(/\s+/g, ' '));
  }
  expect(code.length).toBeGreaterThan(15);
  const digest = createHash('sha256').update(code.toSorted().join('\n')).digest('hex');
  expect(
    [readingVersion, digest],
    'raise readingVersion where a record may come to something else now, then write the new digest here',
  ).toEqual([6, ofReading]);
});
