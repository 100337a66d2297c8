import { expect, it } from 'vitest';
import { CatalogWarehouse, record } from '../../../support/catalog-warehouse.ts';

const first = '2026-01-01T00:00:00Z';
const second = '2026-01-02T00:00:00Z';

/** The versions of offer `a` after two runs in which its record reads so. */
async function versionsOf(before: Record<string, unknown>, after: Record<string, unknown>, secondAsOf = second) {
  await using warehouse = await CatalogWarehouse.create();
  await warehouse.run(first, { name: '1.ndjson', modified: 1, rows: [record('a', before)] });
  await warehouse.run(secondAsOf, { name: '2.ndjson', modified: 2, rows: [record('a', after)] });
  return await warehouse.versions('a');
}

it.each([
  [{ payout: '2' }],
  [{ title: 'New' }],
  [{ status: 'paused' }],
  [{ image: 'https://cdn.example/b.png' }],
  [{ events: [{ event_id: 'e', payout: '1' }] }],
  [{ countries: ['US'] }],
  [{ created_at: '2025-01-01T00:00:00Z' }],
])('a published change such as %j makes a version and moves updated_at', async (change) => {
  expect(await versionsOf({}, change)).toMatchObject([
    { version: 1, updated: '01' },
    { version: 2, valid_from: '02T00:00:00.000000', updated: '02' },
  ]);
});

it('a change that is not published makes a version and leaves updated_at', async () => {
  expect(await versionsOf({}, { destination_url: 'https://elsewhere.example' })).toMatchObject([
    { updated: '01' },
    { version: 2, valid_from: '02T00:00:00.000000', updated: '01' },
  ]);
});

it.each([
  [{ payout: 1 }],
  [{ payout: '1.000' }],
  [{ countries: ['All'] }],
  [{ stars: 0, level: '' }],
  [{ updated_at: '2026-01-01T12:00:00Z' }],
  [{ colour: 'new' }],
  [{ created_at: '2026-01-01T01:00:00+01:00' }],
])('the same said otherwise, such as %j, makes no version', async (same) => {
  expect(await versionsOf({}, same)).toHaveLength(1);
});

it("the source's created_at counts, else the first run that saw the offer", async () => {
  expect(
    await versionsOf({ created_at: '2025-12-05T00:00:00Z' }, { created_at: '2025-12-05T00:00:00Z', stars: 1 }),
  ).toMatchObject([{ created: '05' }, { created: '05' }]);
  expect(await versionsOf({}, { stars: 1 })).toMatchObject([{ created: '01' }, { created: '01' }]);
});

it.each([
  [first, '01'],
  ['2025-12-30T00:00:00Z', '30'],
])('a version follows the last by a microsecond where the as-of is not later (%s)', async (asOf, updated) => {
  expect(await versionsOf({}, { stars: 1 }, asOf)).toMatchObject([
    { valid_from: '01T00:00:00.000000' },
    { valid_from: '01T00:00:00.000001', updated },
  ]);
});

it('keeps microseconds of the as-of', async () => {
  await using warehouse = await CatalogWarehouse.create();
  await warehouse.run('2026-01-01T23:59:59.999999Z', { name: '1.ndjson', modified: 1, rows: [record('a')] });
  expect(await warehouse.versions('a')).toMatchObject([{ valid_from: '01T23:59:59.999999' }]);
});

it('a version is kept for a vanished offer that was changed while away', async () => {
  await using warehouse = await CatalogWarehouse.create();
  await warehouse.run(first, { name: '1.ndjson', modified: 1, rows: [record('a'), record('b')] });
  await warehouse.run(first, { name: '2.ndjson', modified: 2, rows: [record('b')] });
  await warehouse.run(first, { name: '3.ndjson', modified: 3, rows: [record('a', { payout: '9' }), record('b')] });
  expect(await warehouse.versions('a')).toMatchObject([
    { status: 'active', payout: '1.000000' },
    { status: 'vanished', valid_from: '01T00:00:00.000001' },
    { status: 'active', valid_from: '01T00:00:00.000002', payout: '9.000000', created: '01' },
  ]);
});

it('a title in a language that is not served makes a version and leaves updated_at', async () => {
  expect(await versionsOf({ title: { en: 'A', de: 'Ah' } }, { title: { en: 'A', de: 'Aha' } })).toMatchObject([
    { updated: '01' },
    { version: 2, updated: '01' },
  ]);
});

const milestone = (description: Record<string, string>) => ({ events: [{ event_id: 'e', payout: '1', description }] });

it.each([
  ['descriptions', { description: { de: 'H', en: 'H', fr: 'S' } }, { description: { fr: 'S', en: 'H', de: 'H' } }],
  [
    'descriptions without English',
    { description: { fr: 'S', de: 'H', nl: 'H' } },
    { description: { fr: 'S', nl: 'H', de: 'H' } },
  ],
  ['titles', { title: { de: 'A', en: 'B' } }, { title: { en: 'B', de: 'A' } }],
  ['milestones', milestone({ en: 'A', de: 'B' }), milestone({ de: 'B', en: 'A' })],
])('another order of the languages of %s makes no version', async (_what, before, after) => {
  expect(await versionsOf(before, after)).toHaveLength(1);
});

it('another first language, where it is the one that is served, moves updated_at', async () => {
  expect(await versionsOf({ description: { fr: 'S', de: 'H' } }, { description: { de: 'H', fr: 'S' } })).toMatchObject([
    { updated: '01' },
    { version: 2, updated: '02' },
  ]);
});

it('a version with digests over the order of languages, as 0.2.0 wrote them, is still the last one', async () => {
  await using warehouse = await CatalogWarehouse.create();
  const texts = {
    title: { fr: 'Un', de: 'Eins', en: 'One' },
    description: { de: 'Hallo', en: 'Hello' },
    ...milestone({ nl: 'Niveau', fr: 'Niveau' }),
  };
  const run = (name: string, fields: object) =>
    warehouse.run(second, { name, modified: Number(name), rows: [record('a', { ...texts, ...fields })] });
  await warehouse.run(first, { name: '1', modified: 1, rows: [record('a', texts)] });
  await warehouse.connection.run(
    `UPDATE offer_versions SET content_sha256 = '601fab4af6e4ca65e2796090e1ed22d538b31cabc6c0ca91cdb4020ceb9de243',
       published_sha256 = '31353755d29f4006b5e81f1617e655a034956894b596488c4aabdf45f3feee4e'`,
  );
  await run('2', { colour: 'new' });
  expect(await warehouse.versions('a')).toHaveLength(1);
  await run('3', { destination_url: 'https://elsewhere.example' });
  expect(await warehouse.versions('a')).toMatchObject([{ updated: '01' }, { version: 2, updated: '01' }]);
});

it.each([[{}], [{ created_at: '2025-06-02T00:00:00Z' }]])(
  'an offer that returns saying %j of its creation keeps the created_at that it had',
  async (saying) => {
    await using warehouse = await CatalogWarehouse.create();
    await warehouse.run(first, {
      name: '1.ndjson',
      modified: 1,
      rows: [record('a', { created_at: '2025-12-24T00:00:00Z' }), record('b')],
    });
    await warehouse.run(second, { name: '2.ndjson', modified: 2, rows: [record('b')] });
    await warehouse.run('2026-01-03T00:00:00Z', {
      name: '3.ndjson',
      modified: 3,
      rows: [record('a', saying), record('b')],
    });
    expect(
      (await warehouse.versions('a')).map(({ status, created }) => `${String(status)} ${String(created)}`),
    ).toEqual(['active 24', 'vanished 24', 'active 24']);
  },
);
