import { describe, expect, it } from 'vitest';
import { assignIds } from '../../../../src/pipeline/ingest/catalog/catalog-ids.ts';
import { CatalogWarehouse, record } from '../../../support/catalog-warehouse.ts';

const of = (externalId: string, id: number | null = null, source = 'net') => ({ source, externalId, id });
const given = (offerId: number, kept = false) => ({ offerId, kept });

describe('public ids', () => {
  it('are assigned from 1 000 001, around those in use and those that records bring', () => {
    const owners = [{ source: 'net', externalId: 'old', offerId: 1_000_002 }];
    expect(assignIds(owners, [of('a'), of('b'), of('c', 1_000_001), of('old'), of('d')])).toEqual([
      given(1_000_003),
      given(1_000_004),
      given(1_000_001),
      given(1_000_002),
      given(1_000_005),
    ]);
  });

  it('of another offer are refused, in whatever source that is, and also to an offer that has its own', () => {
    const owners = [
      { source: 'net', externalId: 'a', offerId: 5 },
      { source: 'net', externalId: 'b', offerId: 6 },
    ];
    expect(assignIds(owners, [of('new', 5), of('a', 5, 'other'), of('b', 5), of('x', 9), of('y', 9)])).toEqual([
      'id_taken',
      'id_taken',
      'id_taken',
      given(9),
      'id_taken',
    ]);
  });

  it('stay with their offer when a record brings another', () => {
    expect(assignIds([{ source: 'net', externalId: 'a', offerId: 5 }], [of('a', 7), of('b', 7)])).toEqual([
      given(5, true),
      given(7),
    ]);
  });

  it('are the same for several records of one offer', () => {
    expect(assignIds([], [of('a'), of('a', 3), of('a', 4)])).toEqual([given(3), given(3), given(3, true)]);
  });

  it('are not mixed up by names that look alike', () => {
    expect(assignIds([], [of('b', null, 'a:'), of(':b', null, 'a')])).toEqual([given(1_000_001), given(1_000_002)]);
  });
});

describe('in the catalog', () => {
  it('a taken id rejects the row, whose offer stays as it was', async () => {
    await using warehouse = await CatalogWarehouse.create();
    await warehouse.run('2026-01-01T00:00:00Z', {
      name: '1.ndjson',
      modified: 1,
      rows: [record('a', { id: 5 }), record('b')],
    });
    await warehouse.run('2026-01-02T00:00:00Z', {
      name: '2.ndjson',
      modified: 2,
      rows: [record('a', { id: 5 }), record('b', { id: 5, payout: '9' }), record('c', { id: 5 })],
    });
    expect(await warehouse.catalog()).toEqual(['a active', 'b active']);
    expect(await warehouse.versions('b')).toMatchObject([{ payout: '1.000000' }]);
    expect(await warehouse.ledger()).toEqual(['1.ndjson loaded 2=2+0+0', '2.ndjson loaded 3=1+0+2']);
    expect(await warehouse.query('SELECT line, reason FROM rejects ORDER BY line')).toEqual([
      { line: '2', reason: 'id_taken' },
      { line: '3', reason: 'id_taken' },
    ]);
  });

  it('an id is never reused, also after its offer vanished', async () => {
    await using warehouse = await CatalogWarehouse.create();
    await warehouse.run('2026-01-01T00:00:00Z', { name: '1.ndjson', modified: 1, rows: [record('a')] });
    await warehouse.run('2026-01-02T00:00:00Z', {
      name: '2.ndjson',
      modified: 2,
      rows: [record('b'), record('c', { id: 1_000_001 })],
    });
    expect(await warehouse.query('SELECT offer_id, external_id FROM offers ORDER BY offer_id')).toEqual([
      { offer_id: 1_000_001, external_id: 'a' },
      { offer_id: 1_000_002, external_id: 'b' },
    ]);
  });

  it('a record that brings another id than its offer has draws a warning', async () => {
    await using warehouse = await CatalogWarehouse.create();
    await warehouse.run('2026-01-01T00:00:00Z', { name: '1.ndjson', modified: 1, rows: [record('a')] });
    await warehouse.run('2026-01-02T00:00:00Z', { name: '2.ndjson', modified: 2, rows: [record('a', { id: 5 })] });
    expect(await warehouse.versions('a')).toMatchObject([{ offer_id: 1_000_001, version: 1 }]);
    expect(await warehouse.query('SELECT warning, field, rows FROM ingest_warnings')).toEqual([
      { warning: 'id_kept', field: 'id', rows: '1' },
    ]);
  });
});
