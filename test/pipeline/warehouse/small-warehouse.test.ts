import { expect, it } from 'vitest';
import { thisMachine } from '../../../src/kit/duckdb/duckdb-options.ts';
import { queryRows } from '../../../src/kit/duckdb/dialect/rows.ts';
import { readOnly, withDuckDB } from '../../../src/kit/duckdb/open.ts';
import { analyticsFile } from '../../../src/pipeline/snapshot/manifest.ts';
import { fitThreads } from '../../../src/pipeline/warehouse/small-warehouse.ts';
import { LogLanding } from '../../support/log-landing.ts';
import { PipelineUnderTest } from '../../support/pipeline-under-test.ts';
import { slow } from '../../support/slow.ts';

const { processors } = thisMachine();

it('DuckDB has one thread where there is little to read, and as many as the settings say', async () => {
  await using landing = await LogLanding.create();
  const { connection } = landing.state;
  const threads = async (settings: { threads?: number } = {}, landingBytes = 0) => {
    await fitThreads(connection, { duckdb: settings }, landingBytes);
    const [row] = await queryRows<{ threads: number }>(connection, `SELECT current_setting('threads') AS threads`);
    return row?.threads;
  };
  expect(await threads()).toBe(1);
  expect(await threads({}, 10 ** 6)).toBe(1);
  expect(await threads({}, 10 ** 7)).toBe(processors);
  expect(await threads()).toBe(1);
  await connection.run('SET threads = 7');
  expect(await threads({ threads: 3 })).toBe(7);
  await landing.put('clicks/a.ndjson', [
    { click_id: 'c', offer_id: 1, site_key: 's', user_id: 'u', clicked_at: '2026-03-10T10:00:00Z' },
  ]);
  await landing.ingest({ asOf: '2026-03-10T12:00:00Z' });
  expect(await threads()).toBe(1);
  await connection.run('UPDATE event_files SET rows = 6000000');
  expect(await threads()).toBe(processors);
});

it('the database of a snapshot with few offers has small blocks, so that it is not mostly empty', slow, async () => {
  await using pipeline = await PipelineUnderTest.create(new Date('2026-03-10T12:00:00Z'));
  await pipeline.landOffers('net', [{ external_id: 'a', id: 1, title: 'A', payout: '2' }]);
  await pipeline.refresh('2026-03-10T12:00:00Z');
  const sizes = await withDuckDB(`${pipeline.data.current}/${analyticsFile}`, readOnly, (connection) =>
    queryRows<{ block_size: number; total_blocks: number }>(connection, 'PRAGMA database_size'),
  );
  const [size] = sizes.filter(({ total_blocks }) => total_blocks > 0);
  expect(size).toMatchObject({ block_size: 16384 });
});
