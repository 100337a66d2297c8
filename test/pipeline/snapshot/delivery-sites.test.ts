import { expect, it } from 'vitest';
import { inMemory, withDuckDB } from '../../../src/kit/duckdb/open.ts';
import { currentManifest } from '../../../src/pipeline/snapshot/snapshot-store.ts';
import { manifestSchema } from '../../../src/pipeline/snapshot/manifest.ts';
import { readMart } from '../../../src/pipeline/sql/run-model.ts';
import { PipelineUnderTest } from '../../support/pipeline-under-test.ts';
import { slow } from '../../support/slow.ts';

const at = (time: string) => `2025-03-10T${time}:00Z`;

it('the manifest has the state of each site’s postbacks, as the run found them', slow, async () => {
  const site = { site_secret: 'a-secret-of-this-test', postback: { url: 'http://127.0.0.1:1/hook', method: 'POST' } };
  await using pipeline = await PipelineUnderTest.create(new Date(at('12:00')), {
    sites: [
      { ...site, site_key: 'gone' },
      { ...site, site_key: 'untold' },
    ],
  });
  await pipeline.landOffers('net', [{ id: 1, external_id: 'one', title: 'One', payout: '1.5' }]);
  const click = (click_id: string, site_key: string) => ({
    click_id,
    offer_id: 1,
    site_key,
    user_id: 'u',
    clicked_at: at('09:30'),
  });
  await pipeline.landLog('clicks', 'ndjson', [click('a', 'gone'), click('b', 'gone'), click('c', 'nobody')]);
  await pipeline.landLog('conversions', 'csv', [
    { conversion_id: 'v1', click_id: 'a', kind: 'credit', occurred_at: at('10:00') },
    { conversion_id: 'v2', click_id: 'b', kind: 'credit', occurred_at: at('10:01') },
  ]);
  // The pass of the refresh tries them, at an address that is refused.
  await pipeline.refresh(at('12:00'));
  await pipeline.refresh(at('12:05'));
  const manifest = await currentManifest(pipeline.data);
  expect(manifest?.deliveries.sites).toEqual([
    { site_key: 'gone', waiting: 2, failing: 2, dead: 0, oldest_waiting_at: at('12:00') },
  ]);
  // The manifest of an earlier version.
  const { sites: _none, ...deliveries } = manifest?.deliveries ?? { sites: [] };
  expect(manifestSchema.parse({ ...manifest, deliveries }).deliveries.sites).toEqual([]);
});

it('of many sites those are listed that wait for longest, then those with most that were given up', async () => {
  const rows = await withDuckDB(inMemory, {}, async (connection) => {
    await connection.run(`ATTACH ':memory:' AS snapshot`);
    await connection.run(`CREATE TABLE snapshot.postbacks AS
      SELECT 's' || number % 150 AS site_key, TIMESTAMPTZ '2025-03-10 00:00:00Z' + INTERVAL (number % 150) MINUTE AS enqueued_at,
        CASE WHEN number % 150 < 98 THEN 'pending' WHEN number % 150 < 120 OR number < 149 THEN 'dead' ELSE 'delivered' END AS state,
        CASE WHEN number < 150 THEN 'timeout' END AS last_error
      FROM range(300) AS numbers (number)`);
    return readMart(connection, 'delivery_sites');
  });
  expect(rows).toHaveLength(100);
  expect(rows[0]).toEqual({ site_key: 's0', waiting: 2, failing: 1, dead: 0, oldest_waiting_at: at('00:00') });
  expect(rows.slice(97).map(({ site_key, waiting, dead }) => [site_key, waiting, dead])).toEqual([
    ['s97', 2, 0],
    ['s100', 0, 2],
    ['s101', 0, 2],
  ]);
});
