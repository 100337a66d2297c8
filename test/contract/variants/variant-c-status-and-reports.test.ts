import { afterAll, beforeAll, expect, test } from 'vitest';
import { credentials, serveSmallNetwork } from '../../support/small-network.ts';

let running: Awaited<ReturnType<typeof serveSmallNetwork>>;

beforeAll(async () => {
  running = await serveSmallNetwork({
    tracking_url: 'https://go.example',
    public_url: 'https://cdn.example',
  });
});

afterAll(() => running.close());

test('status', async () => {
  const response = await running.get(`/c/api/v1/status?${credentials('site-c')}`);
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(await response.json()).toStrictEqual({
    success: true,
    status: 'operational',
    version: '1.0',
    data: { offers_available: 4, multireward_available: 2, site_status: 'active', rate_limit_per_hour: 5000 },
    timestamp: '2026-11-20T12:30:00.000+00:00',
  });
});

test('the default limit of a site is shown', async () => {
  expect(await running.json(`/c/api/v1/status?${credentials('changed')}`)).toMatchObject({
    data: { rate_limit_per_hour: 10 },
  });
});

test('reports list all active offers; a single-reward one, field by field', async () => {
  const body = await running.json(`/c/api/v1/reports?${credentials('site-c')}`);
  expect(Object.keys(body)).toEqual(['success', 'offers']);
  expect(body.offers.map(({ id }: any) => id)).toEqual(['1', '2', '3', '4', '5', '6']);
  expect(body.offers[0]).toStrictEqual({
    id: '1',
    name: 'Tournament "Gold"',
    description: { en: 'Reach level 5.\nThen wait.' },
    payout: 2,
    events: [],
    multiEvent: false,
    multiComplete: true,
    trackingType: 'CPI',
    previewUrl: 'https://advertiser.example/preview?id=1&x=2',
    icon: 'https://cdn.example/asset/images/offers/tournament-1a2b.png',
    category: 'app',
    country: ['CI', 'DE', 'US'],
    url: 'https://go.example/redirect/manual-offer/1/user/[USER_ID]/site/site-c',
    device: ['android', 'pc'],
    dailyCap: 100,
    dailyClickCap: 5000,
    epc: 0.0988,
    cvr: 0.05,
  });
});

test('reports of a multireward offer and of one without figures', async () => {
  const { offers } = await running.json(`/c/api/v1/reports?${credentials('site-c')}`);
  expect(offers[2]).toMatchObject({
    events: [
      { eventId: 'install', action: { en: 'Install' }, payout: 0 },
      { eventId: 'level-5', action: { en: 'Reach level 5', de: 'Stufe 5' }, payout: 0.8 },
      { eventId: 'level-9', action: { de: 'Stufe 9' }, payout: 4 },
    ],
    multiEvent: true,
    epc: 1.2,
    cvr: 1.25,
  });
  expect(offers[4]).toMatchObject({ multiEvent: false, events: [{ eventId: 'lead' }] });
  expect(offers[1]).toMatchObject({
    name: 'Enquête',
    description: {},
    icon: '',
    previewUrl: null,
    dailyCap: null,
    dailyClickCap: null,
    epc: 0,
    cvr: 0,
    country: [],
  });
});

test('reports take no parameters: whatever else is sent is ignored', async () => {
  const plain = await (await running.get(`/c/api/v1/reports?${credentials('site-c')}`)).text();
  const more = await (
    await running.get(`/c/api/v1/reports?${credentials('site-c')}&type=none&limit=1&limit=2&updated_since=x`)
  ).text();
  expect(more).toBe(plain);
});
