import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import type { PublishedFigures } from '../support/pipeline-under-test.ts';
import { arbitraryDeal, landCatalog, landDealt, network, networkPipeline } from './dealt-logs.ts';
import { rounds } from '../support/rounds.ts';

const asOf = '2026-03-10T13:37:00Z';

/** One run, one file of each log, in order of time. */
let whole: PublishedFigures;
beforeAll(async () => {
  await using pipeline = await networkPipeline();
  await landCatalog(pipeline);
  await pipeline.landLog(
    'clicks',
    'ndjson',
    network.clicks.map((click) => ({ ...click })),
  );
  await pipeline.landLog(
    'conversions',
    'ndjson',
    network.conversions.map((event) => ({ ...event })),
  );
  await pipeline.refresh(asOf);
  whole = await pipeline.figures(asOf);
});

it('starts from figures that say something', () => {
  expect(whole.clicks).toHaveLength(network.clicks.length);
  expect(new Set(whole.conversions.map(({ status }) => status)).size).toBeGreaterThan(2);
  expect(whole.offer_stats_2d.filter(({ rank }) => rank !== null).length).toBeGreaterThan(3);
});

it('publishes the same, however the logs are cut into files, formats and runs, in whatever order and with repeats', async () => {
  const runs = fc.integer({ min: 1, max: 3 });
  await fc.assert(
    fc.asyncProperty(
      runs.chain((count) => fc.tuple(fc.constant(count), arbitraryDeal(count))),
      async ([count, deal]) => {
        await using pipeline = await networkPipeline();
        await landCatalog(pipeline);
        for (let run = 0; run < count; run++) {
          await landDealt(pipeline, deal, run);
          await pipeline.refresh(asOf);
        }
        expect(await pipeline.figures(asOf)).toEqual(whole);
        const [sums] = await pipeline.ask(
          `SELECT sum(accepted) FILTER (kind = 'clicks') AS clicks, sum(accepted) FILTER (kind = 'conversions') AS conversions, sum(conflicts) AS conflicts, sum(rejected) AS rejected
       FROM ingest_files WHERE kind <> 'offers'`,
        );
        expect(sums).toEqual({
          clicks: network.clicks.length,
          conversions: network.conversions.length,
          conflicts: 0,
          rejected: 0,
        });
      },
    ),
    { seed: 315, numRuns: rounds(1, 8) },
  );
});
