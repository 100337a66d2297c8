import fc from 'fast-check';
import { expect, it } from 'vitest';
import { microsecondsOf, momentOf, type Moment } from '../../src/kit/time/moment.ts';
import { arbitraryDeal, landCatalog, landDealt, networkPipeline } from './dealt-logs.ts';
import { rounds } from '../support/rounds.ts';

const first = microsecondsOf('2026-03-09T00:00:00Z') as bigint;
const last = microsecondsOf('2026-03-10T14:00:00Z') as bigint;
/** Growing as-of times, at odd moments and at those where a day turns. */
const asOfs: fc.Arbitrary<Moment[]> = fc
  .array(
    fc.oneof(
      fc.bigInt({ min: first, max: last }),
      fc.constantFrom(first, first + 86_399_999_999n, first + 86_400_000_000n),
    ),
    { minLength: 2, maxLength: 4 },
  )
  .map((moments) => moments.toSorted((a, b) => (a < b ? -1 : 1)).map(momentOf));

it('publishes after any sequence of runs what a fresh data directory says at once, offers that arrive late included', async () => {
  const example = asOfs.chain((moments) =>
    fc.record({
      moments: fc.constant(moments),
      deal: arbitraryDeal(moments.length),
      // Sources of which no offer is known before the last run: until then their clicks and conversions wait.
      late: fc.subarray(['northstar', 'arcadia', 'clickfield']),
    }),
  );
  await fc.assert(
    fc.asyncProperty(example, async ({ moments, deal, late }) => {
      const asOf = moments.at(-1) as Moment;
      await using grown = await networkPipeline();
      await landCatalog(grown, (source) => !late.includes(source));
      for (const [run, moment] of moments.entries()) {
        if (run === moments.length - 1) await landCatalog(grown, (source) => late.includes(source));
        await landDealt(grown, deal, run);
        await grown.refresh(moment);
      }
      await using fresh = await networkPipeline();
      await landCatalog(fresh);
      for (const run of moments.keys()) await landDealt(fresh, deal, run);
      await fresh.refresh(asOf);
      expect(await grown.figures(asOf)).toEqual(await fresh.figures(asOf));
    }),
    { seed: 410, numRuns: rounds(1, 4) },
  );
});
