import fc from 'fast-check';
import { expect, it } from 'vitest';
import { endOfDay, microsecondsOf, momentOf, type Day } from '../../src/kit/time/moment.ts';
import type { QueryRow } from '../../src/kit/duckdb/dialect/rows.ts';
import { PipelineUnderTest } from '../support/pipeline-under-test.ts';
import { arbitraryLandings, source } from './reference/arbitrary-landings.ts';
import { asPublished } from './reference/as-published.ts';
import type { Landing, Micros } from './reference/facts.ts';
import { Reference } from './reference/figures.ts';
import { land } from './reference/landings.ts';
import { newsAboutOlderDays } from './reference/news-about-older-days.ts';
import { postbacksBy } from './reference/postbacks.ts';
import { rounds } from '../support/rounds.ts';

/** After everything that is landed, so that nothing counts as from the future. */
const wallClock = new Date('2026-03-20T00:00:00Z');

/** An address that is refused before anything is sent. A quarter is kept back, and a dollar is three points. */
const sites = [
  {
    site_key: 'site-0',
    site_secret: 'the secret of site number 0',
    commission: 0.25,
    reward_rate: 3,
    postback: { url: 'http://127.0.0.1/', pending: true },
  },
  { site_key: 'site-1', site_secret: 'the secret of site number 1' },
];

/** Reward of a payout by the sites' commissions. */
function percentKept(siteKey: string): bigint | null {
  return { 'site-0': 75n, 'site-1': 100n }[siteKey] ?? null;
}

/** Millionths × 0.75 × 3, half away from zero to 4 places. */
function reward(amount: bigint): string {
  const tenThousandths = (amount * 225n + 5_000n) / 10_000n;
  return `${tenThousandths / 10_000n}.${String(tenThousandths % 10_000n).padStart(4, '0')}`;
}

/** Reports of days that are over and of which the snapshot says that nothing has changed them since. */
async function currentReports(pipeline: PipelineUnderTest): Promise<{ day: Day; rows: QueryRow[] }[]> {
  const days = await pipeline.ask<{ day: Day }>(
    `SELECT report_date AS day FROM report_days WHERE state = 'current' ORDER BY day`,
  );
  const rows = await pipeline.ask('FROM report_daily ORDER BY report_date, offer_id');
  return days.map(({ day }) => ({
    day,
    rows: rows.filter((row) => row['report_date'] === day).map(({ report_date: _day, ...figures }) => figures),
  }));
}

function reportByDefinition(landings: readonly Landing[], day: Day): QueryRow[] {
  const asOf = microsecondsOf(endOfDay(day)) as Micros;
  return asPublished(new Reference(landings, asOf), asOf, percentKept).offer_stats_2d;
}

it('publishes after every run the figures and postbacks of a plain reading of their definitions', async () => {
  let sent = 0;
  await fc.assert(
    fc.asyncProperty(arbitraryLandings, async (landings) => {
      await using pipeline = await PipelineUnderTest.create(wallClock, { sites });
      for (const [index, landing] of landings.entries()) {
        await land(pipeline, landing, source);
        await pipeline.refresh(momentOf(landing.asOf));
        const published = await pipeline.figures(momentOf(landing.asOf));
        const expected = asPublished(new Reference(landings.slice(0, index + 1)), landing.asOf, percentKept);
        expect(published.offer_stats_2d).toEqual(expected.offer_stats_2d);
        expect(published.report_of_today).toEqual(expected.offer_stats_2d);
        for (const { day, rows } of await currentReports(pipeline))
          expect(rows, day).toEqual(reportByDefinition(landings.slice(0, index + 1), day));
        for (const mart of ['offer_hourly', 'offer_daily', 'network_hourly', 'site_daily'] as const)
          expect(published[mart], mart).toEqual(expected[mart]);
        const columns = ['conversion_id', 'click_id', 'status', 'offer_id', 'payout', 'credited_at'];
        expect(
          published.conversions.map((row) => Object.fromEntries(columns.map((column) => [column, row[column]]))),
        ).toEqual(expected.conversions);

        const postbacks = await pipeline.ask(
          'SELECT conversion_id, kind, offer_id, site_key, user_id, reward FROM postbacks',
        );
        const due = postbacksBy(landings.slice(0, index + 1), (siteKey) => siteKey === 'site-0').map(
          ({ conversionId, kind, offerId, siteKey, userId, amount }) => ({
            conversion_id: conversionId,
            kind,
            offer_id: offerId,
            site_key: siteKey,
            user_id: userId,
            reward: reward(amount),
          }),
        );
        expect(byConversion(postbacks)).toEqual(byConversion(due));
        if (index === landings.length - 1) sent += due.length;
      }
    }),
    { seed: 20260316, numRuns: rounds(2, 14), examples: [[newsAboutOlderDays]] },
  );
  expect(sent, 'postbacks in all examples').toBeGreaterThan(rounds(5, 20));
});

function byConversion(rows: readonly QueryRow[]): QueryRow[] {
  const key = ({ conversion_id, kind }: QueryRow) => JSON.stringify([conversion_id, kind]);
  return rows.toSorted((one, other) => (key(one) < key(other) ? -1 : 1));
}
