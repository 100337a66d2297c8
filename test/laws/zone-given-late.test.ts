import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Random } from '../../src/demo/generate/network/random.ts';
import type { LandingRow } from '../support/log-files.ts';
import { arbitraryDeal, landCatalog, landDealt, network, networkPipeline } from './dealt-logs.ts';
import { rounds } from '../support/rounds.ts';
import { slow } from '../support/slow.ts';

const asOf = '2026-03-10T13:37:00Z';
const zone = { logs: { ...network.settings.logs, clicks: { time_zone: 'UTC' } } };

/** Files of text: the test's Parquet says of its times that they are UTC. */
const textDeal = arbitraryDeal(3).map((deal) => ({
  ...deal,
  files: deal.files.map((file) => (file.format === 'parquet' ? { ...file, format: 'csv' as const } : file)),
}));

/** Some clicks lack their offset. */
const careless = (row: LandingRow, random: Random): LandingRow =>
  random.chance(0.4) && typeof row['clicked_at'] === 'string'
    ? { ...row, clicked_at: row['clicked_at'].replace(/Z$/, '') }
    : row;

it('publishes, once a log has a zone, what it would have published with it from the start', slow, async () => {
  await fc.assert(
    fc.asyncProperty(textDeal, async (deal) => {
      await using late = await networkPipeline();
      await using early = await networkPipeline(zone);
      for (const pipeline of [late, early]) {
        await landCatalog(pipeline);
        for (const run of [0, 1, 2]) {
          if (run === 2) await pipeline.configure({ ...network.settings, ...zone });
          await landDealt(pipeline, deal, run, careless);
          await pipeline.refresh(asOf);
        }
      }
      expect(await late.figures(asOf)).toEqual(await early.figures(asOf));
      const counts = `SELECT kind, sum(rows) AS rows, sum(accepted) AS accepted, sum(rejected) AS rejected FROM ingest_files GROUP BY kind ORDER BY kind`;
      expect(await late.ask(counts)).toEqual(await early.ask(counts));
      expect(await late.ask('SELECT count(*) AS rows FROM rejects')).toEqual([{ rows: 0 }]);
      expect((await late.refresh(asOf)).snapshotId).toBeNull();
    }),
    { seed: 610, numRuns: rounds(1, 3) },
  );
});
