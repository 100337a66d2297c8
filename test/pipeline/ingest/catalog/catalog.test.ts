import { describe, expect, it } from 'vitest';
import { CatalogWarehouse, record, records } from '../../../support/catalog-warehouse.ts';

const day = (date: number) => `2026-01-${String(date).padStart(2, '0')}T00:00:00Z`;

describe('a full source', () => {
  it('stores what the record says', async () => {
    await using warehouse = await CatalogWarehouse.create({ rates: { EUR: '1.1' } });
    await warehouse.run(day(1), {
      name: 'a.ndjson',
      modified: 1,
      rows: [
        {
          external_id: 'x',
          id: 42,
          title: { de: 'Spiel', en: 'Gäme 🎮 "q"' },
          currency: 'EUR',
          countries: ['UK', 'de'],
          devices: ['ios'],
          categories: ["O'Neil", 'b'],
          daily_cap: 5,
          events: [
            { event_id: 'lvl', description: 'Level', payout: 1.5 },
            { event_id: 'buy', payout: '3' },
          ],
          created_at: '2025-12-24T00:00:00.123456Z',
          updated_at: '2025-12-25T00:00:00Z',
          destination_url: 'https://secret.example',
          image: 'https://cdn.example/a.png',
        },
      ],
    });
    expect(await warehouse.query('SELECT * FROM offers')).toEqual([
      { offer_id: 42, source: 'net', external_id: 'x', first_seen_at: '2026-01-01 00:00:00+00' },
    ]);
    expect(
      await warehouse.query('SELECT * EXCLUDE (content_sha256, published_sha256, image_name) FROM offer_versions'),
    ).toEqual([
      {
        offer_id: 42,
        version: 1,
        valid_from: '2026-01-01 00:00:00+00',
        run_id: '1',
        status: 'active',
        titles: '{"de":"Spiel","en":"Gäme 🎮 \\"q\\""}',
        descriptions: '{}',
        payout: '4.950000',
        image_source: 'https://cdn.example/a.png',
        level: '',
        stars: 0,
        categories: ["O'Neil", 'b'],
        countries: ['DE', 'GB'],
        devices: ['ios'],
        payment_term: 'net30',
        android_min_os: null,
        ios_min_os: null,
        destination_url: 'https://secret.example',
        preview_url: null,
        tracking_type: 'CPA',
        report_category: 'web',
        formats: ['offerwall'],
        daily_cap: 5,
        daily_click_cap: null,
        multi_complete: false,
        currency: 'EUR',
        currency_rate: '1.100000000',
        events:
          '[{"event_id":"lvl","descriptions":{"en":"Level"},"payout":"1.65"},{"event_id":"buy","descriptions":{},"payout":"3.3"}]',
        created_at: '2025-12-24 00:00:00.123456+00',
        updated_at: '2026-01-01 00:00:00+00',
      },
    ]);
    expect(await warehouse.query('SELECT * FROM offer_version_events ORDER BY payout')).toEqual([
      { offer_id: 42, version: 1, event_id: 'lvl', payout: '1.650000' },
      { offer_id: 42, version: 1, event_id: 'buy', payout: '3.300000' },
    ]);
  });

  it('removes what the newest export lacks, and takes it back with its id and created_at', async () => {
    await using warehouse = await CatalogWarehouse.create();
    const b = record('b', { events: [{ event_id: 'e', payout: '2' }] });
    await warehouse.run(day(1), { name: '1.ndjson', modified: 1, rows: [record('a'), b] });
    const gone = await warehouse.run(day(2), { name: '2.ndjson', modified: 2, rows: [record('a')] });
    expect(gone.changes).toEqual([
      {
        offerId: 1_000_002,
        source: 'net',
        externalId: 'b',
        change: 'vanished',
        version: 2,
        validFrom: '2026-01-02T00:00:00Z',
      },
    ]);
    expect(await warehouse.catalog()).toEqual(['a active', 'b vanished']);
    // It stays gone without a further version.
    expect(
      (await warehouse.run(day(3), { name: '3.ndjson', modified: 3, rows: [record('a', { stars: 0 })] })).changes,
    ).toEqual([]);
    const back = await warehouse.run(day(4), { name: '4.ndjson', modified: 4, rows: [b, record('a')] });
    expect(back.changes).toMatchObject([{ offerId: 1_000_002, change: 'returned', version: 3 }]);
    expect(await warehouse.versions('b')).toEqual([
      {
        offer_id: 1_000_002,
        version: 1,
        valid_from: '01T00:00:00.000000',
        status: 'active',
        payout: '1.000000',
        created: '01',
        updated: '01',
      },
      {
        offer_id: 1_000_002,
        version: 2,
        valid_from: '02T00:00:00.000000',
        status: 'vanished',
        payout: '1.000000',
        created: '01',
        updated: '02',
      },
      {
        offer_id: 1_000_002,
        version: 3,
        valid_from: '04T00:00:00.000000',
        status: 'active',
        payout: '1.000000',
        created: '01',
        updated: '04',
      },
    ]);
    expect(
      await warehouse.query('SELECT version, event_id, payout FROM offer_version_events ORDER BY version'),
    ).toEqual([1, 2, 3].map((version) => ({ version, event_id: 'e', payout: '2.000000' })));
    expect((await warehouse.versions('a')).length).toBe(1);
  });

  it('leaves an offer as it was whose row is rejected', async () => {
    await using warehouse = await CatalogWarehouse.create();
    await warehouse.run(day(1), { name: '1.ndjson', modified: 1, rows: [record('a'), record('b'), record('c')] });
    await warehouse.run(day(2), {
      name: '2.ndjson',
      modified: 2,
      rows: [record('a', { payout: '-1' }), record('b', { currency: 'XYZ' }), record('d', { countries: ['Mars'] })],
    });
    expect(await warehouse.catalog()).toEqual(['a active', 'b active', 'c vanished']);
    expect(await warehouse.query('SELECT line, reason, raw FROM rejects ORDER BY line')).toEqual([
      { line: '1', reason: 'bad_payout', raw: JSON.stringify(record('a', { payout: '-1' })) },
      { line: '2', reason: 'no_rate', raw: JSON.stringify(record('b', { currency: 'XYZ' })) },
      { line: '3', reason: 'bad_countries', raw: JSON.stringify(record('d', { countries: ['Mars'] })) },
    ]);
  });

  it.each([
    ['is empty', [], 'empty_export'],
    ['breaks off', [record('a'), '{"external_id":"b","title":"Off'], 'truncated_export'],
    ['has a reject that names no offer', ['{"title":"x"}', record('a')], 'unidentified_reject'],
    ['has a line that is no record', ['null', record('a')], 'unidentified_reject'],
  ])('removes nothing by an export that %s', async (_what, rows, warning) => {
    await using warehouse = await CatalogWarehouse.create();
    await warehouse.run(day(1), { name: '1.ndjson', modified: 1, rows: [record('a'), record('b'), record('c')] });
    const result = await warehouse.run(day(2), { name: '2.ndjson', modified: 2, rows });
    expect(await warehouse.catalog()).toEqual(['a active', 'b active', 'c active']);
    expect(result.warnings).toEqual([expect.stringContaining('no offer was removed')]);
    expect(await warehouse.query('SELECT warning, field, rows FROM ingest_warnings')).toEqual([
      { warning, field: null, rows: '1' },
    ]);
  });

  it('touches no other source', async () => {
    await using warehouse = await CatalogWarehouse.create();
    await warehouse.run(
      day(1),
      { source: 'one', name: '1.ndjson', modified: 1, rows: [record('a')] },
      { source: 'two', name: '1.ndjson', modified: 1, rows: [record('a')] },
    );
    await warehouse.run(day(2), { source: 'one', name: '2.ndjson', modified: 2, rows: [record('b')] });
    expect(await warehouse.catalog('one')).toEqual(['a vanished', 'b active']);
    expect(await warehouse.catalog('two')).toEqual(['a active']);
  });
});

describe('which export decides', () => {
  it('the newest by modification time, then name', async () => {
    await using warehouse = await CatalogWarehouse.create();
    await warehouse.run(
      day(1),
      { name: 'b.ndjson', modified: 5, rows: [record('b')] },
      { name: 'z.ndjson', modified: 4, rows: [record('z')] },
      { name: 'c.ndjson', modified: 5, rows: [record('c')] },
    );
    expect(await warehouse.catalog()).toEqual(['c active']);
    expect((await warehouse.ledger()).toSorted()).toEqual([
      'b.ndjson superseded 0=0+0+0',
      'c.ndjson loaded 1=1+0+0',
      'z.ndjson superseded 0=0+0+0',
    ]);
  });

  it('the next newest where the newest cannot be read', async () => {
    await using warehouse = await CatalogWarehouse.create();
    await warehouse.run(day(1), { name: '0.ndjson', modified: 1, rows: [record('a')] });
    await warehouse.run(
      day(2),
      { name: '1.ndjson', modified: 2, rows: [record('b')] },
      { name: '2.ndjson', modified: 3, rows: [], unreadable: true },
    );
    expect(await warehouse.catalog()).toEqual(['a vanished', 'b active']);
    expect(await warehouse.query("SELECT reason, rows FROM ingest_files WHERE status = 'quarantined'")).toEqual([
      { reason: 'broken_json: for the test', rows: '0' },
    ]);
  });

  it('not one that arrives late and is older than the one that decided, while that is still there', async () => {
    await using warehouse = await CatalogWarehouse.create();
    await warehouse.run(day(1), { name: 'new.ndjson', modified: 9, rows: [record('a')] });
    await warehouse.run(day(2), { name: 'late.ndjson', modified: 5, rows: [record('b')] });
    expect(await warehouse.catalog()).toEqual(['a active']);
    expect(await warehouse.ledger()).toEqual(['new.ndjson loaded 1=1+0+0', 'late.ndjson superseded 0=0+0+0']);
    warehouse.landed.delete('offers/net/new.ndjson');
    await warehouse.run(day(3), { name: 'later.ndjson', modified: 6, rows: [record('c')] });
    expect(await warehouse.catalog()).toEqual(['a vanished', 'c active']);
  });

  it('new bytes under the same name, even with an older time', async () => {
    await using warehouse = await CatalogWarehouse.create();
    await warehouse.run(day(1), { name: 'catalog.ndjson', modified: 9, rows: [record('a')] });
    await warehouse.run(day(2), { name: 'catalog.ndjson', modified: 5, rows: [record('b')] });
    expect(await warehouse.catalog()).toEqual(['a vanished', 'b active']);
  });
});

it('an unreadable export is quarantined even where it is too old to decide', async () => {
  await using warehouse = await CatalogWarehouse.create();
  await warehouse.run(
    day(1),
    { name: '1.ndjson', modified: 5, rows: [record('a')] },
    { name: '2.ndjson', modified: 4, rows: [], unreadable: true },
  );
  await warehouse.run(day(2), { name: '3.ndjson', modified: 3, rows: [], unreadable: true });
  expect(await warehouse.ledger()).toEqual(
    expect.arrayContaining(['2.ndjson quarantined 0=0+0+0', '3.ndjson quarantined 0=0+0+0']),
  );
  expect(await warehouse.catalog()).toEqual(['a active']);
});

describe('a delta source', () => {
  const settings = { sources: { net: { mode: 'delta' as const } } };

  it('only adds and changes, file by file in order, with one version a run', async () => {
    await using warehouse = await CatalogWarehouse.create(settings);
    await warehouse.run(day(1), { name: 'z.ndjson', modified: 1, rows: [record('a'), record('b')] });
    await warehouse.run(
      day(2),
      { name: '2.ndjson', modified: 3, rows: [record('a', { payout: '3' })] },
      { name: '9.ndjson', modified: 2, rows: [record('a', { payout: '2' }), record('c')] },
    );
    expect(await warehouse.catalog()).toEqual(['a active', 'b active', 'c active']);
    expect(await warehouse.versions('a')).toMatchObject([{ payout: '1.000000' }, { version: 2, payout: '3.000000' }]);
    expect(await warehouse.ledger()).toEqual([
      'z.ndjson loaded 2=2+0+0',
      '9.ndjson loaded 2=2+0+0',
      '2.ndjson loaded 1=1+0+0',
    ]);
  });

  it('is never held and never warned of empty files', async () => {
    await using warehouse = await CatalogWarehouse.create(settings);
    await warehouse.run(day(1), { name: '1.ndjson', modified: 1, rows: records(20) });
    const result = await warehouse.run(
      day(2),
      { name: '2.ndjson', modified: 2, rows: [] },
      { name: '3.ndjson', modified: 3, rows: records(1) },
    );
    expect(result).toMatchObject({ changes: [], warnings: [] });
  });
});
