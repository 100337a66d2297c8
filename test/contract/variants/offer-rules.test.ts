import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PipelineUnderTest } from '../../support/pipeline-under-test.ts';
import { startService, type RunningService } from '../../support/running-service.ts';
import { TrackerUnderTest } from '../../tracker/tracker-under-test.ts';

const secret = 'a-secret-of-the-site-0123456789';
const site = (site_key: string, own: object = {}) => ({
  site_key,
  site_secret: secret,
  commission: 0.1,
  rate_limit_per_hour: 1000,
  ...own,
});
const denied = { deny: [{ source: 'south' }, { category: 'SURVEYS' }] };
const exceptions = [
  { source: 'south', commission: 0.5 },
  { offer: 4, commission: 0.25 },
];
const sites = (own: Record<string, object>) =>
  ['all-c', 'all-b', 'c', 'b', 'a'].map((key) => site(key, { variant: key.at(-1)?.toUpperCase(), ...own[key] }));
const rulesOfAll = (offers: object) => ({ a: { offers }, b: { offers }, c: { offers } });

let pipeline: PipelineUnderTest;
let running: RunningService;
let tracker: TrackerUnderTest;
const now = Date.UTC(2026, 10, 20, 12);
const [first, second, third] = ['2026-11-20T08:00:00Z', '2026-11-20T09:00:00Z', '2026-11-20T10:00:00Z'] as const;

const offer = (id: number, own: object = {}) => ({
  id,
  external_id: String(id),
  title: `Offer ${id}`,
  description: '',
  payout: '2',
  destination_url: 'https://advertiser.example/?c={click_id}',
  ...own,
});
const ask = (path: string, key: string, parameters: object = {}, status = 200): Promise<any> =>
  running.json(
    `/${path}?${new URLSearchParams({ site_key: key, ...(key.at(-1) === 'a' ? {} : { site_secret: secret }), ...parameters }).toString()}`,
    status,
  );
const idsOf = (offers: any[]) => offers.map(({ id }) => Number(id));
/** What each feed has for a site and its like of other variants. */
async function feeds(prefix = ''): Promise<Record<string, unknown>> {
  const { data } = await ask('c/api/v1/status', `${prefix}c`);
  const top = await ask('b/api/v1/offers/top-converting', `${prefix}b`);
  return {
    c: idsOf((await ask('c/api/v1/offers', `${prefix}c`)).offers),
    milestones: idsOf((await ask('c/api/v1/offers', `${prefix}c`, { type: 'multireward' })).offers),
    reports: idsOf((await ask('c/api/v1/reports', `${prefix}c`)).offers),
    status: [data.offers_available, data.multireward_available],
    b: idsOf((await ask('b/api/v1/offers', `${prefix}b`)).offers.data),
    top: [top.total, ...top.offers.map(({ id, rank }: any) => [id, rank])],
  };
}
const refreshWith = async (asOf: string, own: Record<string, object>) => {
  await writeFile(pipeline.data.sitesFile, JSON.stringify({ sites: sites(own) }));
  await pipeline.refresh(asOf);
  await running.service.poll();
};
const outcome = (id: number, key: string) => tracker.outcome(`/redirect/manual-offer/${id}/user/u${id}/site/${key}`);

beforeAll(async () => {
  pipeline = await PipelineUnderTest.create(new Date(now), { sites: sites(rulesOfAll(denied)) });
  await pipeline.landOffers('north', [
    offer(1, { categories: ['Games'] }),
    offer(2, { categories: ['Games', 'surveys'], formats: ['offerwall', 'PTC'] }),
    offer(3, { events: [{ event_id: 'm', description: '', payout: '2' }], payout: undefined }),
  ]);
  await pipeline.landOffers('south', [
    offer(4),
    offer(5, { events: [{ event_id: 'm', description: '', payout: '2' }], payout: undefined }),
  ]);
  await pipeline.landLog(
    'clicks',
    'ndjson',
    [1, 4].map((id) => ({
      click_id: `k${id}`,
      offer_id: id,
      site_key: 'a',
      user_id: 'u',
      clicked_at: '2026-11-20T07:00:00Z',
    })),
  );
  await pipeline.landLog('conversions', 'ndjson', [
    ...['x', 'y'].map((id) => ({
      conversion_id: id,
      click_id: 'k4',
      kind: 'credit',
      occurred_at: '2026-11-20T07:01:00Z',
    })),
    { conversion_id: 'z', click_id: 'k1', kind: 'credit', occurred_at: '2026-11-20T07:02:00Z' },
  ]);
  await pipeline.refresh(first);
  running = await startService(pipeline.data, {}, now);
  tracker = await TrackerUnderTest.start({ data: pipeline.data });
});

afterAll(async () => {
  await tracker.stop();
  await running.service.close();
  await pipeline[Symbol.asyncDispose]();
});

test('what a site may not have is in none of its feeds, and in those of the others', async () => {
  expect(await feeds()).toEqual({
    c: [1],
    milestones: [3],
    reports: [1, 3],
    status: [1, 1],
    b: [1, 3],
    top: [1, [1, 1]],
  });
  expect(await feeds('all-')).toEqual({
    c: [1, 2, 4],
    milestones: [3, 5],
    reports: [1, 2, 3, 4, 5],
    status: [3, 2],
    b: [1, 2, 3, 4, 5],
    top: [2, [4, 1], [1, 2]],
  });
  expect(idsOf((await ask('a/api/offers', 'a', { user_id: 'u', format: 'offerwall' })).offers)).toEqual([1, 3]);
  expect(await ask('a/api/offers', 'a', { user_id: 'u', format: 'PTC' })).toMatchObject({ total: 0, offers: [] });
});

test('clicks on it are refused, and those on other offers and of other sites are not', async () => {
  for (const [id, expected] of [
    [1, '302'],
    [2, '403 not_offered'],
    [4, '403 not_offered'],
  ] as const)
    expect([id, await outcome(id, 'c'), await outcome(id, 'all-c')]).toEqual([id, expected, '302']);
});

test('conversions of what it may no more have stay its own', async () => {
  expect((await ask('a/api/click-lookup', 'a', { click_id: 'k4' })).conversions).toHaveLength(2);
});

test('a changed rule is seen by a sync, for the offers that it concerns alone', async () => {
  await refreshWith(second, rulesOfAll({ allow: [{ source: 'south' }, { offer: 3 }] }));
  const since = { updated_since: first, include_removed: '1' };
  const synced = await ask('c/api/v1/offers', 'c', since);
  expect(synced.offers.map(({ id, updated_at }: any) => [id, updated_at])).toEqual([[4, '2026-11-20T09:00:00+00:00']]);
  const left = { removed_at: '2026-11-20T09:00:00+00:00', reason: 'no_match' };
  // The other type's, which came with the rule, is not of this answer either.
  expect(synced.removed).toEqual([
    { id: 1, ...left },
    { id: 5, ...left },
  ]);
  expect(await ask('c/api/v1/offers', 'all-c', since)).toMatchObject({ offers: [], removed: [] });
  expect(await feeds()).toMatchObject({ c: [4], milestones: [3, 5], top: expect.anything() });
  // The tracker follows sites.json itself.
  tracker.elapse(60_000);
  expect(await tracker.comesTo(async () => (await outcome(4, 'c')) === '302')).toBe(true);
  expect(await outcome(1, 'c')).toBe('403 not_offered');
});

test('offers have commissions of their own, for one site, in every amount', async () => {
  await refreshWith(third, {
    c: { commissions: exceptions },
    b: { commissions: exceptions },
    a: { commissions: exceptions },
  });
  const payouts = ({ offers }: any) => (offers.data ?? offers).map(({ id, payout }: any) => [Number(id), payout]);
  const all = [
    [1, 1.8],
    [2, 1.8],
    [3, 1.8],
    [4, 1.5],
    [5, 1],
  ];
  expect(payouts(await ask('b/api/v1/offers', 'b'))).toEqual(all);
  expect(payouts(await ask('c/api/v1/reports', 'c'))).toEqual(all);
  expect(payouts(await ask('a/api/offers', 'a', { user_id: 'u', format: 'offerwall' }))).toEqual(all);
  expect(payouts(await ask('c/api/v1/offers', 'c', { min_payout: '1.5' }))).toEqual([
    [1, 1.8],
    [2, 1.8],
    [4, 1.5],
  ]);
  expect(payouts(await ask('c/api/v1/offers', 'c', { type: 'multireward', min_payout: '1.01' }))).toEqual([[3, 1.8]]);
  expect(payouts(await ask('c/api/v1/reports', 'all-c')).map(([, payout]: number[]) => payout)).toEqual([
    1.8, 1.8, 1.8, 1.8, 1.8,
  ]);
  const lookedUp = await ask('a/api/click-lookup', 'a', { click_id: 'k4' });
  expect(lookedUp.conversions.map(({ payout }: any) => payout)).toEqual([1.5, 1.5]);
  // Offers 1 to 3 came back with the rule that is gone; 3 and 5 had been there, and 5 costs something else.
  const synced = await ask('c/api/v1/offers', 'c', { updated_since: second });
  expect(idsOf(synced.offers)).toEqual([1, 2, 4]);
  expect(idsOf((await ask('c/api/v1/offers', 'c', { type: 'multireward', updated_since: second })).offers)).toEqual([
    5,
  ]);
  expect(await pipeline.ask(`SELECT site_key, day, earnings_after_commission AS earned FROM site_daily`)).toEqual([
    { site_key: 'a', day: '2026-11-20', earned: '4.8000' },
  ]);
});

test('the SQL of published figures gives what is served, also by commissions of some offers', async () => {
  const figures = await pipeline.ask<{ metric: string; sql: string }>(
    `SELECT metric, sql FROM metrics WHERE served_as LIKE '%publisher API'`,
  );
  expect(figures).toHaveLength(2);
  for (const { metric, sql } of figures) {
    const rows = await pipeline.ask<{ site_key: string; offer_id: number; figure: string }>(
      `SELECT site_key, offer_id, ${metric} AS figure FROM (${sql}) ORDER BY offer_id`,
    );
    for (const key of ['c', 'all-c']) {
      const { offers } = await ask('c/api/v1/reports', key);
      expect(offers).toHaveLength(5);
      expect(
        rows.filter(({ site_key }) => site_key === key).map(({ offer_id, figure }) => [offer_id, Number(figure)]),
      ).toEqual(offers.map((each: any) => [Number(each.id), each[metric.replace('published_', '')]]));
    }
  }
});
