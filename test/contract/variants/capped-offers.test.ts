import { expect, onTestFinished, test } from 'vitest';
import { PipelineUnderTest } from '../../support/pipeline-under-test.ts';
import { serviceForTest } from '../../support/running-service.ts';
import { slow } from '../../support/slow.ts';

const site = { site_key: 'wall', site_secret: 'a-secret-of-the-site-0123456789', rate_limit_per_hour: 1000 };
const offer = (id: number, own: object) => ({
  id,
  external_id: String(id),
  title: `Offer ${id}`,
  description: '',
  payout: '1',
  ...own,
});
const click = (id: string, offer_id: number, at: string) => ({
  click_id: id,
  offer_id,
  site_key: 'wall',
  user_id: 'u',
  clicked_at: `2026-11-${at}Z`,
});
const event = (click_id: string, at: string, kind = 'credit') => ({
  conversion_id: `v-${click_id}-${at.length}`,
  click_id,
  kind,
  occurred_at: `2026-11-${at}Z`,
});

test('an offer at its daily cap leaves the feeds, and returns as updated the next day', slow, async () => {
  const hiding = { hide_capped_offers: true };
  const pipeline = await PipelineUnderTest.create(new Date('2026-11-22T00:00:00Z'), {
    settings: hiding,
    sites: [site],
  });
  onTestFinished(() => pipeline[Symbol.asyncDispose]());
  await pipeline.landOffers('net', [
    offer(1, {}),
    offer(2, { daily_cap: 2 }),
    offer(3, { daily_click_cap: 3 }),
    offer(4, { daily_cap: 0 }),
    offer(5, { daily_cap: 1, status: 'paused' }),
  ]);
  await pipeline.landLog('clicks', 'ndjson', [
    ...['a', 'b', 'c'].map((id) => click(id, 2, '20T08:00:00')),
    ...['d', 'e', 'f'].map((id) => click(id, 3, '20T08:00:00')),
    // Of the day before, which has its own count.
    click('g', 3, '19T23:59:59'),
  ]);
  // Of one click, two milestones count once.
  await pipeline.landLog('conversions', 'ndjson', [event('a', '20T08:30:00'), event('a', '20T08:30:00.5')]);
  await pipeline.refresh('2026-11-20T09:00:00Z');
  const running = await serviceForTest(pipeline.data, {}, Date.UTC(2026, 10, 22));
  const ask = async (path: string, more = '') =>
    running.json(`/${path}?site_key=wall&site_secret=${site.site_secret}${more}`);
  const feeds = async () => {
    await running.service.poll();
    const { data } = await ask('c/api/v1/status');
    const lists = [
      (await ask('c/api/v1/offers')).offers,
      (await ask('c/api/v1/reports')).offers,
      (await ask('b/api/v1/offers')).offers.data,
    ].map((list) => list.map(({ id }: any) => Number(id)));
    expect([lists[1], lists[2], data.offers_available]).toEqual([lists[0], lists[0], lists[0].length]);
    return lists[0];
  };
  const since = async (moment: string) => {
    await running.service.poll();
    const { offers, removed } = await ask('c/api/v1/offers', `&updated_since=${moment}&include_removed=1`);
    return [
      ...offers.map(({ id, updated_at }: any) => [id, updated_at]),
      ...removed.map(({ id, reason, removed_at }: any) => [id, reason, removed_at]),
    ];
  };
  expect(await feeds()).toEqual([1, 2]);

  await pipeline.landLog('conversions', 'ndjson', [event('b', '20T09:10:00')]);
  await pipeline.refresh('2026-11-20T10:00:00Z');
  expect(await feeds()).toEqual([1]);
  expect(await since('2026-11-20T09:00:00Z')).toEqual([[2, 'capped', '2026-11-20T10:00:00+00:00']]);
  // Analysts see it as the catalog has it.
  expect(await pipeline.ask('SELECT status, capped_at FROM offers WHERE offer_id = 2')).toEqual([
    { status: 'active', capped_at: '2026-11-20T10:00:00Z' },
  ]);
  await pipeline.refresh('2026-11-20T11:00:00Z');
  expect(await since('2026-11-20T10:00:00Z')).toEqual([]);

  // A reversal makes room on the same day, which the next credit takes again.
  await pipeline.landLog('conversions', 'ndjson', [event('b', '20T11:10:00', 'chargeback')]);
  await pipeline.refresh('2026-11-20T12:00:00Z');
  expect(await since('2026-11-20T11:00:00Z')).toEqual([[2, '2026-11-20T12:00:00+00:00']]);
  await pipeline.landLog('conversions', 'ndjson', [event('c', '20T12:10:00')]);
  await pipeline.refresh('2026-11-20T13:00:00Z');
  expect(await feeds()).toEqual([1]);

  await pipeline.refresh('2026-11-21T00:00:00Z');
  expect(await feeds()).toEqual([1, 2, 3]);
  const next = '2026-11-21T00:00:00+00:00';
  expect(await since('2026-11-20T13:00:00Z')).toEqual([
    [2, next],
    [3, next],
  ]);
  await pipeline.configure({});
  await pipeline.refresh('2026-11-21T01:00:00Z');
  expect(await feeds()).toEqual([1, 2, 3, 4]);
});
