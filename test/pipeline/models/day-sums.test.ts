import { expect, it } from 'vitest';
import { PipelineUnderTest } from '../../support/pipeline-under-test.ts';
import { sharedPipeline } from '../../support/shared-pipeline.ts';
import { slow } from '../../support/slow.ts';

const wallClock = new Date('2026-03-20T00:00:00Z');
const sites = [{ site_key: 'north', site_secret: 'the secret of the site north', commission: 0.2 }];
const click = (id: string, clicked_at: string, site_key = 'north') => ({
  click_id: id,
  offer_id: 1,
  site_key,
  user_id: 'u',
  clicked_at,
});
const credit = (id: string, click_id: string, occurred_at: string) => ({
  conversion_id: id,
  click_id,
  kind: 'credit',
  occurred_at,
});

const withFourDays = sharedPipeline(async () => {
  const pipeline = await PipelineUnderTest.create(wallClock, { sites });
  await pipeline.landOffers('net', [{ external_id: 'a', id: 1, title: 'A', payout: '1.11115' }]);
  await pipeline.landLog('clicks', 'ndjson', [
    click('c1', '2026-03-07T10:00:00Z'),
    click('c2', '2026-03-08T10:00:00Z', 'unknown'),
    click('c3', '2026-03-09T10:00:00Z'),
    click('c4', '2026-03-10T10:00:00Z'),
    click('ahead', '2026-03-10T13:00:00Z'),
  ]);
  await pipeline.landLog('conversions', 'ndjson', [
    credit('v1', 'c1', '2026-03-07T11:00:00Z'),
    credit('v2', 'c2', '2026-03-08T11:00:00Z'),
    credit('v4', 'c4', '2026-03-10T11:00:00Z'),
  ]);
  await pipeline.refresh('2026-03-10T12:00:00Z');
  return pipeline;
});

it('are those of their moment again when a run goes back, and forth once more', slow, async () => {
  const pipeline = await withFourDays();
  const late = await pipeline.figures('2026-03-10T12:00:00Z');
  expect(late.site_daily).toHaveLength(4);
  await pipeline.refresh('2026-03-09T09:00:00Z', { allowOlder: true });
  const early = await pipeline.figures('2026-03-09T09:00:00Z');
  expect(early.network_hourly).toEqual(late.network_hourly.slice(0, 4));
  expect(early.site_daily).toEqual(late.site_daily.slice(0, 2));
  expect(early.offer_daily).toEqual(late.offer_daily.slice(0, 2));
  await pipeline.refresh('2026-03-10T12:00:00Z');
  expect(await pipeline.figures('2026-03-10T12:00:00Z')).toEqual(late);
});

it('of sites are gross and after the commission of now, if sites.json has the site', slow, async () => {
  const pipeline = await withFourDays();
  const asked = `SELECT day, site_key, gross_earnings, earnings_after_commission FROM site_daily WHERE gross_earnings > 0 ORDER BY day`;
  // 1.11115 × 0.8 = 0.88892
  expect(await pipeline.ask(asked)).toEqual([
    { day: '2026-03-07', site_key: 'north', gross_earnings: '1.111150', earnings_after_commission: '0.8889' },
    { day: '2026-03-08', site_key: 'unknown', gross_earnings: '1.111150', earnings_after_commission: null },
    { day: '2026-03-10', site_key: 'north', gross_earnings: '1.111150', earnings_after_commission: '0.8889' },
  ]);
});

it('of one offer by site leave out what is stamped ahead of as-of', async () => {
  const pipeline = await withFourDays();
  const asked = 'SELECT site_key, clicks, conversions FROM figures_by_site() WHERE offer_id = 1';
  expect(await pipeline.ask(asked)).toEqual([{ site_key: 'north', clicks: 2, conversions: 1 }]);
});

it('have the newest events up to as-of, not later ones', async () => {
  const pipeline = await withFourDays();
  const asked = 'SELECT kind, source, newest_event_at FROM newest_events ORDER BY kind';
  expect(await pipeline.ask(asked)).toEqual([
    { kind: 'clicks', source: null, newest_event_at: '2026-03-10T10:00:00Z' },
    { kind: 'conversions', source: null, newest_event_at: '2026-03-10T11:00:00Z' },
    { kind: 'offers', source: 'net', newest_event_at: null },
  ]);
  await pipeline.refresh('2026-03-10T13:00:00Z');
  expect((await pipeline.ask(asked))[0]).toMatchObject({ newest_event_at: '2026-03-10T13:00:00Z' });
});
