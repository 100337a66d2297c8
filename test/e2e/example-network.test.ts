import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { QueryRow } from '../../src/kit/duckdb/dialect/rows.ts';
import { PipelineUnderTest } from '../support/pipeline-under-test.ts';
import { serviceForTest } from '../support/running-service.ts';
import { slow } from '../support/slow.ts';

const asOf = '2026-11-18T12:00:00Z';

/** A row's values, one behind the other. */
function inWords(row: QueryRow): string {
  return Object.values(row)
    .map((value) => (value === null ? '' : `${value as string | number}`))
    .join(' ');
}

test('the example network gets from landing to the feeds as data/README.md says', slow, async () => {
  const pipeline = await PipelineUnderTest.bare(new Date(asOf));
  onTestFinished(() => pipeline[Symbol.asyncDispose]());
  await cp(join(import.meta.dirname, '../../data/example'), pipeline.data.root, { recursive: true });
  await pipeline.refresh(asOf);

  const files = await pipeline.ask(
    "SELECT regexp_replace(path, '.*/', '') AS file, accepted, duplicates, rejected, warnings FROM ingest_files ORDER BY path",
  );
  expect(files.map(inWords)).toEqual([
    'edge-fra.ndjson 8 0 2 1',
    'edge-fra.resent.ndjson.gz 0 3 0 0',
    'edge-gru.csv 7 0 1 0',
    'pollhive.csv 3 0 0 0',
    'tracker.ndjson 7 0 1 0',
    'changes.ndjson 2 1 0 0',
    'catalog.json 4 0 0 1',
    'surveys.csv 2 0 2 0',
  ]);
  const rejects = await pipeline.ask(
    "SELECT regexp_replace(path, '.*/', '') AS file, line, reason FROM rejects ORDER BY path, line",
  );
  expect(rejects.map(inWords)).toEqual([
    'edge-fra.ndjson 6 not_json_object',
    'edge-fra.ndjson 10 timestamp_without_offset',
    'edge-gru.csv 7 wrong_cell_count',
    'tracker.ndjson 8 bad_payout',
    'surveys.csv 4 no_rate',
    'surveys.csv 5 bad_payout',
  ]);
  const figures = await pipeline.ask(
    'SELECT offer_id, clicks, conversions, earnings, epc, cvr, rank FROM offer_stats_2d ORDER BY offer_id',
  );
  expect(figures.map(inWords)).toEqual([
    '11 4 2 5.000000 1.250000 0.250000 1',
    '12 4 2 2.550000 0.637500 0.500000 2',
    '13 2 0 0.000000 0.000000 0.000000 ',
    '21 2 1 0.972000 0.486000 0.500000 3',
    '22 1 0 0.000000 0.000000 0.000000 ',
    '31 1 0 0.000000 0.000000 0.000000 ',
    '32 1 0 0.000000 0.000000 0.000000 ',
  ]);
  const conversions = await pipeline.ask('SELECT conversion_id, status FROM conversions ORDER BY conversion_id');
  expect(conversions.map(inWords)).toEqual([
    'ph-9001 credited',
    'ph-9002 rejected',
    'v-1 credited',
    'v-2 credited',
    'v-3 credited',
    'v-4 credited',
    'v-5 charged_back',
    'v-6 unattributed',
  ]);

  const service = await serviceForTest(pipeline.data);
  const wall = await service.json('/a/api/offers?site_key=coinquest&user_id=m_9&format=offerwall');
  expect(wall.offers.map(({ id, payout }: { id: number; payout: number }) => [id, payout])).toEqual([
    [11, 4],
    [12, 0.96],
    [13, 5.2],
    [21, 0.7776],
  ]);
  const offers = await service.json('/b/api/v1/offers?site_key=rewardly&site_secret=example-only-rewardly-9b27');
  expect(offers.offers.data.map(({ id }: { id: number }) => id)).toEqual([11, 12, 13, 21, 22, 31, 32]);
  const reports = await service.json('/c/api/v1/reports?site_key=perkhaven&site_secret=example-only-perkhaven-c63e');
  expect(JSON.stringify(reports)).toContain('"epc":0.875');
});
