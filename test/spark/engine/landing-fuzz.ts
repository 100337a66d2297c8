import fc from 'fast-check';
import { expect, it } from 'vitest';
import { landedFile } from '../../pipeline/ingest/logs/landed-file.ts';
import { differences } from '../../fault/lives/published-tables.ts';
import { click, LogLanding } from '../../support/log-landing.ts';
import { ingested } from './same-as-duckdb.ts';
import type { SharedDriver } from './shared-driver.ts';

const rounds = 10;
const filesPerRound = 20;
const changedAt = '2026-11-18T11:00:00Z';

export function tryLandingFuzz(shared: SharedDriver): void {
  it(`${rounds * filesPerRound} files of all kinds, good and broken: Spark leaves what DuckDB leaves`, async () => {
    const landed = fc.sample(fc.array(await landedFile(), { minLength: filesPerRound, maxLength: filesPerRound }), {
      numRuns: rounds,
      seed: 20_261_118,
    });
    await using byDuckdb = await LogLanding.create();
    await using bySpark = await LogLanding.create();
    for (const [run, files] of landed.entries()) {
      for (const landing of [byDuckdb, bySpark]) {
        for (const [index, { name, content }] of files.entries())
          await landing.putAt(name.replace(/\/([^/]*)$/, `/${run}-${index}-$1`), content, changedAt);
        await landing.putAt(`clicks/${run}-good.ndjson`, [click(`good-${run}`)], changedAt);
      }
      await byDuckdb.ingest();
      await bySpark.ingest({}, { engine: shared.engine });
      expect(differences(await ingested(byDuckdb), await ingested(bySpark)), `run ${run}`).toEqual([]);
    }
  }, 1_200_000);
}
