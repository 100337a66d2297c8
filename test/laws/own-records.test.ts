import { realpath, writeFile } from 'node:fs/promises';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ourConversions } from '../../src/pipeline/analysis/reconcile/our-conversions.ts';
import { SnapshotConnections } from '../../src/pipeline/clicks/snapshot-connections.ts';
import {
  siteConversions,
  type ConversionFilters,
  type SiteConversion,
} from '../../src/pipeline/records/site-conversions.ts';
import { siteStatement } from '../../src/pipeline/records/site-statement.ts';
import type { RecordOwner } from '../../src/pipeline/records/site-terms.ts';
import { decimalOf } from '../../src/kit/text/decimal-text.ts';
import { microsecondsNumber } from '../../src/kit/time/iso-moment.ts';
import { dayOf } from '../../src/kit/time/moment.ts';
import type { PipelineUnderTest } from '../support/pipeline-under-test.ts';
import { rounds } from '../support/rounds.ts';
import { arbitraryDeal, landCatalog, landDealt, network, networkPipeline, offers } from './dealt-logs.ts';
import { slow } from '../support/slow.ts';

/** In the last hours of the traffic, and after it. */
const asOfs = ['2026-03-10T04:00:00Z', '2026-03-10T09:00:00Z', '2026-03-10T13:37:00Z'] as const;
/** An address that is refused before anything is sent. */
const postback = { url: 'http://127.0.0.1:1/' };

const share = fc.integer({ min: 0, max: 1_000_000 }).map((millionths) => millionths / 1_000_000);
const sources = [...new Set(offers.map(({ source }) => source as string))];
interface OfOffers {
  offer?: number | undefined;
  source?: string | undefined;
  commission: number;
}
/** Commissions of some offers, by source and by id: others for each run and site. */
const anyCommissions: fc.Arbitrary<OfOffers[]> = fc
  .record(
    Object.fromEntries([
      ...sources.map((source) => [`source ${source}`, share]),
      ...offers.slice(0, 12).map(({ id }) => [`offer ${Number(id)}`, share]),
    ]),
    { requiredKeys: [] },
  )
  .map((commissions) =>
    Object.entries(commissions as Record<string, number>).map(([name, commission]) => {
      const [what = '', value = ''] = name.split(' ');
      return what === 'offer' ? { offer: Number(value), commission } : { source: value, commission };
    }),
  );
/**
 * Sites of which every other one has postbacks; in the last run all have another commission, another rate of rewards,
 * or both, and every third has commissions of some offers in each run.
 */
const sitesAt = (run: number, commissions: readonly OfOffers[][]) =>
  network.sites.map((site, index) => ({
    ...site,
    commission: run === asOfs.length - 1 && index % 3 !== 1 ? 0.237 : 0.1,
    reward_rate: run === asOfs.length - 1 && index % 3 !== 2 ? 0.9 : 3.5,
    ...(index % 3 === 0 ? { commissions: commissions[(run + index) % commissions.length] } : {}),
    ...(index % 2 === 0 ? { postback } : { postback: undefined }),
  }));

interface OfCommissions {
  commission: number;
  commissions?: OfOffers[] | undefined;
}

const pageRows = 100;
const unitsOf = (amount: string | null) => (amount === null ? 0n : decimalOf(amount).units);
const sum = (amounts: readonly bigint[]) => amounts.reduce((total, amount) => total + amount, 0n);

async function walk(connections: SnapshotConnections, owner: RecordOwner, filters: ConversionFilters = {}) {
  const rows: SiteConversion[] = [];
  for (;;) {
    const page = await siteConversions(connections, owner, filters, {
      after: rows.at(-1)?.conversion_id ?? '',
      limit: pageRows,
    });
    rows.push(...page);
    if (page.length < pageRows) return rows;
  }
}

/**
 * A site's records, checked against the tables that analysts open, what its commissions make of gross payouts, and what
 * `reconcile` says is due.
 */
async function checked(
  pipeline: PipelineUnderTest,
  connections: SnapshotConnections,
  owner: RecordOwner,
  site: OfCommissions,
) {
  const { siteKey } = owner;
  const conversions = await walk(connections, owner);
  const ids = await pipeline.ask<{ id: string }>(
    `SELECT conversion_id AS id FROM conversions WHERE site_key = '${siteKey}' ORDER BY id`,
  );
  expect(conversions.map(({ conversion_id }) => conversion_id)).toEqual(ids.map(({ id }) => id));

  const days = await siteStatement(connections, owner, {});
  const published = await pipeline.ask(
    `SELECT day, clicks, conversions, earnings_after_commission AS earnings FROM site_daily WHERE site_key = '${siteKey}' ORDER BY day`,
  );
  const traffic = days.filter(({ clicks, conversions: credited }) => clicks + credited > 0);
  expect(
    traffic.map(({ day, clicks, conversions: credited, earnings }) => ({
      day,
      clicks,
      conversions: credited,
      earnings,
    })),
  ).toEqual(published);

  const gross = await pipeline.ask<{
    id: string;
    day: string;
    offer_id: number;
    source: string;
    payout: string;
    status: string;
  }>(
    `SELECT conversion_id AS id, occurred_at::DATE::VARCHAR AS day, offer_id, offers.source, conversions.payout, conversions.status
     FROM conversions JOIN offers USING (offer_id) WHERE site_key = '${siteKey}' AND conversions.payout IS NOT NULL`,
  );
  const shareOf = ({ offer_id, source }: { offer_id: number; source: string }) => {
    const { commission, commissions = [] } = site;
    const named =
      commissions.find(({ offer }) => offer === offer_id) ?? commissions.find((each) => each.source === source);
    return BigInt(Math.round((1 - (named?.commission ?? commission)) * 1_000_000));
  };
  // In trillionths; half a ten-thousandth is half of a hundred million.
  const afterCommission = (rows: typeof gross) =>
    (sum(rows.map((row) => unitsOf(row.payout) * shareOf(row))) + 50_000_000n) / 100_000_000n;
  const payouts = new Map(conversions.map(({ conversion_id, payout }) => [conversion_id, unitsOf(payout)]));
  for (const row of gross) expect([row.id, payouts.get(row.id)]).toEqual([row.id, afterCommission([row])]);
  const paid = Map.groupBy(
    gross.filter(({ status }) => status === 'credited'),
    ({ day }) => day,
  );
  for (const { day, earnings } of traffic)
    expect([day, unitsOf(earnings)]).toEqual([day, afterCommission(paid.get(day) ?? [])]);

  const byDay = Map.groupBy(conversions, ({ occurred_at }) => dayOf(occurred_at));
  const outcomes = (day: string) => {
    const of = (status: string) => (byDay.get(day) ?? []).filter((row) => row.status === status);
    const rewards = sum(of('credited').map(({ reward }) => unitsOf(reward)));
    return {
      conversions: of('credited').length,
      reversed: of('charged_back').length,
      rejected: of('rejected').length,
      rewards,
    };
  };
  for (const { day, conversions: credited, reversed, rejected, rewards } of days)
    expect({ conversions: credited, reversed, rejected, rewards: unitsOf(rewards) }, day).toEqual(outcomes(day));
  const decided = conversions
    .filter(({ status }) => status !== 'unattributed')
    .map(({ occurred_at }) => dayOf(occurred_at));
  expect(new Set(days.map(({ day }) => day))).toEqual(new Set([...published.map(({ day }) => day), ...decided]));

  const due = await connections.ask((connection) => ourConversions(connection, siteKey));
  // In billionths.
  expect(sum(due.filter(({ status }) => status === 'credited').map(({ amount = 0n }) => amount))).toBe(
    sum(days.map(({ rewards }) => unitsOf(rewards))) * 100_000n,
  );
  return conversions;
}

it('a statement is the sum of site_daily, of the conversions and of what reconcile finds due', slow, async () => {
  const unchanged: number[] = [];
  await fc.assert(
    fc.asyncProperty(
      arbitraryDeal(asOfs.length),
      fc.tuple(anyCommissions, anyCommissions, anyCommissions),
      async (deal, commissions) => {
        await using pipeline = await networkPipeline();
        let before = new Map<string, string>();
        for (const [run, asOf] of asOfs.entries()) {
          await writeFile(pipeline.data.sitesFile, JSON.stringify({ sites: sitesAt(run, commissions) }));
          await landCatalog(pipeline, (source) => run === (source === 'arcadia' ? 1 : 0));
          await landDealt(pipeline, deal, run);
          await pipeline.refresh(asOf, { clock: asOf });
          const connections = new SnapshotConnections(await realpath(pipeline.data.current));
          const now = new Map<string, string>();
          for (const site of sitesAt(run, commissions)) {
            const siteKey = site.site_key;
            const owner = { siteKey, commission: '0', rewardRate: '1' };
            const all = await checked(pipeline, connections, owner, site);
            const changedSince = run === 0 ? undefined : microsecondsNumber(asOfs[run - 1] as string);
            const changed = await walk(connections, owner, { changedSince });
            const seen = new Set(changed.map(({ conversion_id }) => conversion_id));
            const missed = all.filter(({ changed_at: _changedAt, ...row }) => {
              const [is, was] = [JSON.stringify(row), before.get(row.conversion_id)];
              now.set(row.conversion_id, is);
              return is !== was && !seen.has(row.conversion_id);
            });
            expect(missed).toEqual([]);
            unchanged[run] =
              (unchanged[run] ?? 0) + all.filter((row) => row.changed_at <= (asOfs[run - 1] ?? '')).length;
          }
          await connections.retire();
          before = now;
        }
        expect(before.size).toBeGreaterThan(50);
      },
    ),
    { seed: 812, numRuns: rounds(1, 4) },
  );
  // Not all rows change with each run, but with the terms all do.
  expect(unchanged[1]).toBeGreaterThan(0);
  expect(unchanged[2]).toBe(0);
});
