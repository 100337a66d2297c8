import fc from 'fast-check';
import { expect, it } from 'vitest';
import { momentOf } from '../../src/stage/as-of.ts';
import { PipelineUnderTest } from '../support/pipeline-under-test.ts';
import { arbitraryLandings, source } from './reference/arbitrary-landings.ts';
import { asPublished } from './reference/as-published.ts';
import { Reference } from './reference/figures.ts';
import { land } from './reference/landings.ts';
import { newsAboutOlderDays } from './reference/news-about-older-days.ts';

/** After everything that is landed, so that nothing counts as from the future. */
const wallClock = new Date('2026-03-20T00:00:00Z');

/** A failure is worth the wait for a small example of it. */
const whileShrinking = 240_000;

it('publishes after every run the figures of a plain reading of their definitions', async () => {
  await fc.assert(fc.asyncProperty(arbitraryLandings, async (landings) => {
    await using pipeline = await PipelineUnderTest.create(wallClock);
    for (const [index, landing] of landings.entries()) {
      await land(pipeline, landing, source);
      await pipeline.refresh(momentOf(landing.asOf));
      const published = await pipeline.figures(momentOf(landing.asOf));
      const expected = asPublished(new Reference(landings.slice(0, index + 1)), landing.asOf);
      expect(published.offer_stats_2d).toEqual(expected.offer_stats_2d);
      expect(published.report_of_today).toEqual(expected.offer_stats_2d);
      expect(published.offer_hourly).toEqual(expected.offer_hourly);
      const columns = ['conversion_id', 'click_id', 'status', 'offer_id', 'payout', 'credited_at'];
      expect(published.conversions.map((row) => Object.fromEntries(columns.map((column) => [column, row[column]])))).toEqual(expected.conversions);
    }
  }), { seed: 20260310, numRuns: 14, examples: [[newsAboutOlderDays]] });
}, whileShrinking);
