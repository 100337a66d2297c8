import fc from 'fast-check';
import { expect, it } from 'vitest';
import { momentOf } from '../../src/stage/as-of.ts';
import { PipelineUnderTest } from '../support/pipeline-under-test.ts';
import { arbitraryLandings, source } from './reference/arbitrary-landings.ts';
import { land } from './reference/landings.ts';
import { toldBy } from './reference/postbacks.ts';

/** After everything that is landed, so that nothing counts as from the future. */
const wallClock = new Date('2026-03-20T00:00:00Z');

/** A failure is worth the wait for a small example of it. */
const whileShrinking = 240_000;

/** An address that is refused before anything is sent. A quarter is kept back, and a dollar is three points. */
const sites = [
  { site_key: 'site-0', site_secret: 'the secret of site number 0', commission: 0.25, reward_rate: 3, postback: { url: 'http://127.0.0.1/' } },
  { site_key: 'site-1', site_secret: 'the secret of site number 1' },
];

/** Millionths × 0.75 × 3, half away from zero to 4 places. */
function reward(amount: bigint): string {
  const tenThousandths = (amount * 225n + 5_000n) / 10_000n;
  return `${tenThousandths / 10_000n}.${String(tenThousandths % 10_000n).padStart(4, '0')}`;
}

it('writes after every run the postbacks of a plain reading of their definition, each once', async () => {
  let told = 0;
  await fc.assert(fc.asyncProperty(arbitraryLandings, async (landings) => {
    await using pipeline = await PipelineUnderTest.create(wallClock, { sites });
    for (const [index, landing] of landings.entries()) {
      await land(pipeline, landing, source);
      await pipeline.refresh(momentOf(landing.asOf));
      const published = await pipeline.ask('SELECT conversion_id, kind, offer_id, site_key, user_id, reward FROM postbacks ORDER BY conversion_id, kind');
      const expected = toldBy(landings.slice(0, index + 1), (siteKey) => siteKey === 'site-0').map(({ conversionId, kind, offerId, siteKey, userId, amount }) => (
        { conversion_id: conversionId, kind, offer_id: offerId, site_key: siteKey, user_id: userId, reward: reward(amount) }));
      told += index === landings.length - 1 ? expected.length : 0;
      const key = (row: { conversion_id?: unknown; kind?: unknown }) => `${String(row.conversion_id)} ${String(row.kind)}`;
      expect(published.toSorted((a, b) => (key(a) < key(b) ? -1 : 1))).toEqual(expected.toSorted((a, b) => (key(a) < key(b) ? -1 : 1)));
    }
  }), { seed: 20261121, numRuns: 8 });
  expect(told, 'postbacks in all examples').toBeGreaterThan(20);
}, whileShrinking);
