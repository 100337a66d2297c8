import { describe, expect, it } from 'vitest';
import { UsageError } from '../../../../src/kit/errors/errors.ts';
import { acceptHeldExport, heldExports } from '../../../../src/pipeline/ingest/catalog/catalog-holds.ts';
import { CatalogWarehouse, record, records } from '../../../support/catalog-warehouse.ts';

const asOf = (hour: number) => `2026-01-01T${String(hour).padStart(2, '0')}:00:00Z`;
const full = { name: '1.ndjson', modified: 1, rows: records(10) };
const short = { name: '2.ndjson', modified: 2, rows: [...records(4, { payout: '2' }), record('new')] };

async function active(warehouse: CatalogWarehouse): Promise<number> {
  return (await warehouse.catalog()).filter((offer) => offer.endsWith(' active')).length;
}

describe('an export that would remove more than half of ten or more active offers', () => {
  it('is held: nothing of it is applied, the run warns', async () => {
    await using warehouse = await CatalogWarehouse.create();
    await warehouse.run(asOf(1), full);
    const result = await warehouse.run(asOf(2), short);
    expect(result.changes).toEqual([]);
    expect(result.warnings).toEqual([expect.stringContaining('would remove 6 of 10 active offers')]);
    expect(await active(warehouse)).toBe(10);
    expect(await warehouse.ledger()).toEqual(['1.ndjson loaded 10=10+0+0', '2.ndjson held 5=5+0+0']);
    expect(await heldExports(warehouse.connection)).toMatchObject([
      { fileId: 2, source: 'net', path: 'offers/net/2.ndjson', rows: 5, reason: 'would_remove 6 of 10' },
    ]);
  });

  it.each([
    ['removes just half', records(10), records(5), 5],
    ['comes to a smaller catalog', records(9), records(1), 1],
    [
      'removes paused offers only',
      [...records(10), ...Array.from({ length: 20 }, (_, i) => record(`p${i}`, { status: 'paused' }))],
      records(10),
      10,
    ],
    [
      'still has the offers in rejected rows',
      records(10),
      [...records(4), ...records(10, { payout: 'x' }).slice(4)],
      10,
    ],
    ['pauses them all', records(10), records(10, { status: 'paused' }), 0],
  ])('is not one that %s', async (_what, before, after, left) => {
    await using warehouse = await CatalogWarehouse.create();
    await warehouse.run(asOf(1), { ...full, rows: before });
    const result = await warehouse.run(asOf(2), { ...short, rows: after });
    expect(result.warnings).toEqual([]);
    expect(await active(warehouse)).toBe(left);
  });

  it('is applied by the next run after an operator accepted it', async () => {
    await using warehouse = await CatalogWarehouse.create();
    await warehouse.run(asOf(1), full);
    await warehouse.run(asOf(2), short);
    await warehouse.connection.run(
      "INSERT INTO landing_seen VALUES ('offers/net/2.ndjson', 1, 2, 3, 'x'), ('offers/net/1.ndjson', 1, 2, 3, 'y')",
    );
    await acceptHeldExport(warehouse.connection, 2);
    expect(await warehouse.query('SELECT path FROM landing_seen')).toEqual([{ path: 'offers/net/1.ndjson' }]);
    const result = await warehouse.run(asOf(3), short);
    expect(result.changes.map(({ change }) => change).toSorted()).toEqual([
      'added',
      ...Array(4).fill('changed'),
      ...Array(6).fill('vanished'),
    ]);
    expect(await warehouse.ledger()).toEqual(['1.ndjson loaded 10=10+0+0', '2.ndjson loaded 5=5+0+0']);
    expect(await heldExports(warehouse.connection)).toEqual([]);
    // The word is used up: the same bytes are guarded again when they come back.
    await warehouse.run(asOf(4), { ...full, name: '3.ndjson', modified: 3 });
    await warehouse.run(asOf(5), { ...short, name: '4.ndjson', modified: 4 });
    expect(await heldExports(warehouse.connection)).toMatchObject([{ path: 'offers/net/4.ndjson' }]);
  });

  it('is replaced by a newer export that is fine, and not by one that may be incomplete', async () => {
    await using warehouse = await CatalogWarehouse.create();
    await warehouse.run(asOf(1), full);
    await warehouse.run(asOf(2), short);
    await warehouse.run(asOf(3), { name: '3.ndjson', modified: 3, rows: [] });
    expect(await heldExports(warehouse.connection)).toHaveLength(1);
    await warehouse.run(asOf(4), { name: '4.ndjson', modified: 4, rows: records(9) });
    expect(await heldExports(warehouse.connection)).toEqual([]);
    expect(await warehouse.query('SELECT status, reason FROM ingest_files WHERE file_id = 2')).toEqual([
      { status: 'superseded', reason: 'replaced_by_newer' },
    ]);
    expect(await active(warehouse)).toBe(9);
  });

  it('is applied once accepted, also where an export that removed nothing was loaded meanwhile', async () => {
    await using warehouse = await CatalogWarehouse.create();
    await warehouse.run(asOf(1), full);
    await warehouse.run(asOf(2), short);
    await warehouse.run(asOf(3), { name: '3.ndjson', modified: 3, rows: [] });
    await acceptHeldExport(warehouse.connection, 2);
    await warehouse.run(asOf(4), short);
    expect(await active(warehouse)).toBe(5);
    expect(await warehouse.ledger()).toContain('2.ndjson loaded 5=5+0+0');
  });

  it('claims no id while it is held', async () => {
    await using warehouse = await CatalogWarehouse.create();
    await warehouse.run(asOf(1), full);
    await warehouse.run(
      asOf(2),
      { ...short, rows: [record('new', { id: 5 })] },
      { source: 'other', name: '1.ndjson', modified: 1, rows: [record('o', { id: 5 })] },
    );
    expect(await warehouse.query('SELECT source, external_id FROM offers WHERE offer_id = 5')).toEqual([
      { source: 'other', external_id: 'o' },
    ]);
  });
});

it('only a held export can be accepted', async () => {
  await using warehouse = await CatalogWarehouse.create();
  await warehouse.run(asOf(1), full);
  await expect(acceptHeldExport(warehouse.connection, 1)).rejects.toThrow(UsageError);
  expect(await warehouse.ledger()).toEqual(['1.ndjson loaded 10=10+0+0']);
});
