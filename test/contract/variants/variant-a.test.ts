import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { analyticsDatabase, clickTables } from '../../support/analytics-database.ts';
import { makeCurrent, temporaryData, writeSites, writeSnapshot } from '../../support/published-snapshot.ts';
import { startService } from '../../support/running-service.ts';
import type { RunningService } from '../../support/running-service.ts';
import { credentials, offers, sites } from '../../support/small-network.ts';

let running: RunningService;
let data: DataDirectory;
let remove: () => Promise<void>;
let now = Date.UTC(2026, 10, 20, 12, 30);

const ownSites = [
  ...sites,
  { site_key: 'wall', site_secret: 'wall-secret-0123456789', variant: 'A', commission: 0.2 },
  { site_key: 'other wall', site_secret: 'other-wall-secret-012345', variant: 'A' },
  { site_key: 'pending-a', site_secret: 'pending-a-secret-012345', variant: 'A', status: 'pending' },
];

const clicks = [
  ...clickTables,
  `INSERT INTO offers VALUES (1, 'Tournament "Gold"', 'net'), (3, 'Offer 3', 'net')`,
  `INSERT INTO clicks VALUES
     ('click 1/é?', 1, 'wall', 'u', '2026-11-20 08:00:00Z', 'DE', 'ios', '10.1.2.3', 'secret agent', 'x', NULL)`.replace(
    'é',
    'e',
  ),
  `INSERT INTO clicks VALUES
     ('click-2', 3, 'wall', 'user "two"', '2026-11-19 23:59:59.123456Z', NULL, NULL, NULL, NULL, NULL, 'y'),
     ('click-3', NULL, 'wall', 'u', '2026-11-19 10:00:00Z', 'US', 'android', NULL, NULL, NULL, NULL),
     ('click-5', 99, 'wall', 'u', '2026-11-19 10:00:00Z', NULL, NULL, NULL, NULL, NULL, NULL),
     ('click-4', 1, 'other wall', 'u', '2026-11-19 10:00:00Z', 'US', 'android', NULL, NULL, NULL, NULL)`,
  `INSERT INTO conversions VALUES
     ('b', 'click-2', 'charged_back', 'level-5', 1.000050, '2026-11-20 09:00:00Z', '2026-11-20 10:00:00.5Z', '2026-11-20 09:00:00Z', 'fraud "bot"'),
     ('a', 'click-2', 'credited', NULL, 6, '2026-11-20 08:00:00Z', NULL, '2026-11-20 08:00:00Z', NULL),
     ('c', 'click-3', 'unattributed', NULL, 4, '2026-11-20 09:00:00Z', NULL, '2026-11-20 09:00:00Z', NULL),
     ('d', 'click-4', 'credited', NULL, 1, '2026-11-20 09:00:00Z', NULL, '2026-11-20 09:00:00Z', NULL)`,
  `INSERT INTO postbacks VALUES
     ('b', 'chargeback', 'click-2', 0.8, '2026-11-20 10:00:00.5Z', 'pending', 0, NULL, NULL),
     ('b', 'credit', 'click-2', 0.8, '2026-11-20 09:00:00Z', 'delivered', 3, '2026-11-20 09:05:00.25Z', 204),
     ('a', 'credit', 'click-2', 480, '2026-11-20 08:00:00Z', 'dead', 10, '2026-11-20 09:30:00Z', NULL),
     ('d', 'credit', 'click-4', 1, '2026-11-20 09:00:00Z', 'delivered', 1, '2026-11-20 09:00:00Z', 200)`,
];

beforeAll(async () => {
  const temporary = await temporaryData();
  ({ data, remove } = temporary);
  await writeSites(data, ownSites);
  const placed = offers.map((offer) =>
    offer.id === 2
      ? { ...offer, formats: ['banners' as const] }
      : offer.id === 4
        ? { ...offer, formats: ['banners' as const, 'offerwall' as const, 'PTC' as const] }
        : offer,
  );
  await writeSnapshot(data, 'one', {
    offers: placed,
    sites: ownSites.map(({ site_key, commission = 0 }: { site_key: string; commission?: number }) => ({
      site_key,
      commission: String(commission),
      commission_changed_at: null,
    })),
    files: { 'analytics.duckdb': await analyticsDatabase(...clicks) },
  });
  await makeCurrent(data, 'one');
  running = await startService(
    data,
    { tracking_url: 'https://go.example', public_url: 'https://cdn.example', trusted_proxies: ['127.0.0.1'] },
    () => now,
  );
});

beforeEach(() => {
  now += 3_600_000;
});

afterAll(async () => {
  await running.service.close();
  await remove();
});

const wall = '/a/api/offers?site_key=wall&user_id=u&format=offerwall';
const lookup = '/a/api/click-lookup?site_key=wall&click_id=click-2';

describe('offers', () => {
  test('the body: fields of Variant C, links that carry the user', async () => {
    const body = await running.json('/a/api/offers?site_key=wall&user_id=J%C3%BCrgen%20%2F%7Ba%7D&format=offerwall');
    expect(Object.keys(body)).toEqual(['success', 'site_key', 'user_id', 'format', 'total', 'offers']);
    expect(body).toMatchObject({
      success: true,
      site_key: 'wall',
      user_id: 'Jürgen /{a}',
      format: 'offerwall',
      total: 5,
    });
    expect(body.offers.map(({ id }: any) => id)).toEqual([1, 3, 4, 5, 6]);
    const like = await running.json(`/c/api/v1/offers?site_key=wall&site_secret=wall-secret-0123456789`);
    const link = (id: number) =>
      `https://go.example/redirect/manual-offer/${id}/user/J%C3%BCrgen%20%2F%7Ba%7D/site/wall`;
    expect(body.offers[0]).toStrictEqual({ ...like.offers[0], tracking_url: link(1) });
    expect(body.offers[1].events).toHaveLength(3);
    expect(body.offers[1]).toMatchObject({ payout: 4.8, tracking_url: link(3) });
  });

  test.each([
    ['offerwall', [1, 3, 4, 5, 6]],
    ['banners', [2, 4]],
    ['surveys', []],
    ['PTC', [4]],
  ])('format=%s lists %j', async (format, expected) => {
    const body = await running.json(`/a/api/offers?site_key=wall&user_id=u&format=${format}`);
    expect(body.offers.map(({ id }: any) => id)).toEqual(expected);
    expect(body).toMatchObject({ format, total: expected.length });
  });

  test('a text that looks like the placeholder stays as it is in other fields, and pages belong to one user each', async () => {
    for (let time = 0; time < 2; time++) {
      for (const user of ['a', 'b', '{user_id}']) {
        const body = await running.json(`/a/api/offers?site_key=wall&user_id=${encodeURIComponent(user)}&format=PTC`);
        expect(body.user_id).toBe(user);
        expect(body.offers[0].tracking_url).toContain(`/user/${encodeURIComponent(user)}/site/`);
      }
    }
  });

  test('caching is as everywhere', async () => {
    const whole = await running.get(wall);
    expect(whole.headers.get('cache-control')).toBe('private, max-age=60');
    expect((await running.get(wall, { headers: { 'if-none-match': whole.headers.get('etag') ?? '' } })).status).toBe(
      304,
    );
    expect((await running.get(wall, { headers: { 'accept-encoding': 'gzip' } })).headers.get('content-encoding')).toBe(
      'gzip',
    );
    expect(whole.headers.get('x-snapshot-id')).toBe('one');
    expect(whole.headers.get('x-ratelimit-limit')).toBeNull();
  });

  test('every coding holds the same page, under a tag and a length of its own, and HEAD has both', async () => {
    const tags = new Set<string | null>();
    const bodies = new Set<string>();
    for (const coding of ['identity', 'gzip', 'br']) {
      const request = { headers: { 'accept-encoding': coding } };
      const whole = await running.get(wall, request);
      const head = await running.get(wall, { ...request, method: 'HEAD' });
      tags.add(whole.headers.get('etag'));
      bodies.add(await whole.text());
      expect(await head.text()).toBe('');
      for (const name of ['etag', 'content-length', 'content-encoding', 'cache-control'])
        expect(head.headers.get(name), name).toBe(whole.headers.get(name));
      expect(Number(whole.headers.get('content-length'))).toBeGreaterThan(0);
      expect(
        (await running.get(wall, { headers: { ...request.headers, 'if-none-match': whole.headers.get('etag') ?? '' } }))
          .status,
      ).toBe(304);
    }
    expect([tags.size, bodies.size]).toEqual([3, 1]);
    expect((await running.get(wall.replace('user_id=u', 'user_id=v'))).headers.get('etag')).not.toBe(
      (await running.get(wall)).headers.get('etag'),
    );
  });
});

describe('click lookup', () => {
  test('the click, its conversions after commission, and its postbacks in the order of their events', async () => {
    expect(await running.json(lookup)).toStrictEqual({
      success: true,
      click: {
        click_id: 'click-2',
        offer_id: 3,
        offer_title: 'Offer 3',
        user_id: 'user "two"',
        site_key: 'wall',
        clicked_at: '2026-11-19T23:59:59.123456+00:00',
        country: null,
        device: null,
        sub1: null,
        sub2: 'y',
      },
      conversions: [
        {
          conversion_id: 'a',
          event_id: null,
          status: 'credited',
          payout: 4.8,
          credited_at: '2026-11-20T08:00:00+00:00',
          reversed_at: null,
          reason: null,
        },
        {
          conversion_id: 'b',
          event_id: 'level-5',
          status: 'charged_back',
          payout: 0.8,
          credited_at: '2026-11-20T09:00:00+00:00',
          reversed_at: '2026-11-20T10:00:00.500000+00:00',
          reason: 'fraud "bot"',
        },
      ],
      postbacks: [
        {
          event: 'credit',
          reward: 480,
          state: 'dead',
          attempts: 10,
          last_attempt_at: '2026-11-20T09:30:00+00:00',
          last_status: null,
        },
        {
          event: 'credit',
          reward: 0.8,
          state: 'delivered',
          attempts: 3,
          last_attempt_at: '2026-11-20T09:05:00.250000+00:00',
          last_status: 204,
        },
        { event: 'chargeback', reward: 0.8, state: 'pending', attempts: 0, last_attempt_at: null, last_status: null },
      ],
    });
  });

  test('a click without conversions, and one whose offer is not known', async () => {
    const plain = await running.json('/a/api/click-lookup?site_key=wall&click_id=click%201/e?');
    expect(plain).toMatchObject({
      click: { offer_id: 1, offer_title: 'Tournament "Gold"', country: 'DE', device: 'ios', sub1: 'x', sub2: null },
      conversions: [],
    });
    expect(JSON.stringify(plain)).not.toMatch(/10\.1\.2\.3|secret agent/);
    expect(await running.json('/a/api/click-lookup?site_key=wall&click_id=click-3')).toMatchObject({
      click: { offer_id: null, offer_title: null },
      conversions: [{ status: 'unattributed', payout: null }],
    });
    // One that the click names by its public id has that, all the same.
    expect(await running.json('/a/api/click-lookup?site_key=wall&click_id=click-5')).toMatchObject({
      click: { offer_id: 99, offer_title: null },
    });
  });

  test.each(['click-4', 'nothing', "x' OR true --"])(
    'a click of another site or of nobody is a 404: %s',
    async (clickId) => {
      const body = await running.json(`/a/api/click-lookup?site_key=wall&click_id=${encodeURIComponent(clickId)}`, 404);
      expect(body).toStrictEqual({ title: 'Not found', status: 404, detail: expect.any(String) });
    },
  );

  test('many at once are all answered', async () => {
    const bodies = await Promise.all(
      Array.from({ length: 40 }, (_, place) =>
        running.json(`/a/api/click-lookup?site_key=wall&click_id=click-${2 + (place % 2)}`),
      ),
    );
    expect(bodies.map(({ click }) => click.click_id)).toEqual(bodies.map((_, place) => `click-${2 + (place % 2)}`));
  });

  test('an unchanged one is a 304', async () => {
    const whole = await running.get(lookup);
    expect(whole.headers.get('cache-control')).toBe('private, max-age=60');
    expect((await running.get(lookup, { headers: { 'if-none-match': whole.headers.get('etag') ?? '' } })).status).toBe(
      304,
    );
  });
});

describe('errors', () => {
  test.each([
    ['/a/api/offers', 'site_key, user_id, format'],
    ['/a/api/offers?site_key=wall&format=offerwall', 'user_id'],
    ['/a/api/offers?site_key=wall&user_id=&format=offerwall', 'user_id'],
    ['/a/api/offers?site_key=nobody&user_id=u', 'format'],
    ['/a/api/offers?user_id=u&format=nonsense', 'site_key'],
    ['/a/api/offers?site_key=wall&user_id=u&format=nonsense', 'format'],
    ['/a/api/offers?site_key=wall&user_id=u&format=ptc', 'format'],
    ['/a/api/offers?site_key=wall&user_id=u&format=PTC&format=PTC', 'format'],
    ['/a/api/offers?site_key=wall&user_id=u&user_id=v&format=PTC', 'user_id'],
    [`/a/api/offers?site_key=wall&user_id=${'u'.repeat(257)}&format=PTC`, 'user_id'],
    ['/a/api/offers?site_key=wall&user_id=%ff&format=PTC', 'user_id'],
    // The tracker would refuse their links.
    ['/a/api/offers?site_key=wall&user_id=a%00b&format=PTC', 'user_id'],
    ['/a/api/offers?site_key=wall&user_id=a%0A&format=PTC', 'user_id'],
    ['/a/api/offers?site_key=wall&user_id=%7F&format=PTC', 'user_id'],
    ['/a/api/offers?site_key=wall&user_id=a%C2%85b&format=PTC', 'user_id'],
    ['/a/api/click-lookup?site_key=wall', 'click_id'],
    ['/a/api/click-lookup?click_id=click-1', 'site_key'],
    ['/a/api/click-lookup?site_key=wall&click_id=caf%C3%A9', 'click_id'],
    [`/a/api/click-lookup?site_key=wall&click_id=${'c'.repeat(129)}`, 'click_id'],
    ['/a/api/click-lookup?site_key=wall&click_id=a&click_id=a', 'click_id'],
  ])('422 Invalid input: %s', async (path, named) => {
    const body = await running.json(path, 422);
    expect(body).toStrictEqual({ title: 'Invalid input', status: 422, detail: expect.stringContaining(named) });
  });

  test.each(['nobody', 'site-b', 'site-c', 'WALL', '__proto__', '%ff', 'wall&site_key=wall', 'pending-a'])(
    '401 Unauthorized: site_key=%s',
    async (key) => {
      for (const path of [
        `/a/api/offers?site_key=${key}&user_id=u&format=nonsense`,
        `/api/offers?site_key=${key}&user_id=u&format=offerwall`,
        `/a/api/click-lookup?site_key=${key}&click_id=click-2`,
      ]) {
        expect(await running.json(path, 401)).toStrictEqual({
          title: 'Unauthorized',
          status: 401,
          detail: expect.any(String),
        });
      }
    },
  );

  test('the longest user id passes, counted in characters', async () => {
    expect(
      await running.json(`/a/api/offers?site_key=wall&user_id=${encodeURIComponent('😀'.repeat(256))}&format=PTC`),
    ).toMatchObject({ total: 1 });
  });

  test('other errors have the same form', async () => {
    expect(await running.json('/a/api/v1/offers', 404)).toStrictEqual({
      title: 'Not found',
      status: 404,
      detail: expect.any(String),
    });
    const refused = await running.get(wall, { method: 'POST' });
    expect([refused.status, await refused.json()]).toEqual([
      405,
      { title: 'Method not allowed', status: 405, detail: expect.any(String) },
    ]);
    expect(await running.json(`/a/api/offers?${'x'.repeat(9000)}`, 414)).toMatchObject({
      title: 'URI too long',
      status: 414,
    });
    const failed = await running.get('/a/api/offers');
    expect(failed.headers.get('cache-control')).toBe('no-store');
    expect(failed.headers.get('etag')).toBeNull();
  });
});

test('the bare host answers as the base address does', async () => {
  for (const path of [wall, lookup])
    expect(await running.json(path.slice('/a'.length))).toEqual(await running.json(path));
  // A secret does not hurt, and the versioned path stays the default variant's.
  expect(await running.json(`/api/offers?${credentials('site-a')}&user_id=u&format=PTC`)).toMatchObject({
    site_key: 'site-a',
  });
  expect(await running.json(`/api/v1/offers?${credentials('site-a')}`)).toHaveProperty('has_more');
});

test('600 requests a minute for each site and address, of both endpoints together', async () => {
  const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });
  const first = now;
  for (let request = 0; request < 600; request++) {
    const path =
      request % 2 === 0 ? `${wall}&take=${request}` : '/a/api/offers?site_key=wall&user_id=u&format=nonsense';
    expect((await running.get(path, from('203.0.113.9'))).status).toBe(request % 2 === 0 ? 200 : 422);
  }
  now += 20_000;
  const refused = await running.get(lookup, from('203.0.113.9'));
  expect([refused.status, refused.headers.get('retry-after'), refused.headers.get('x-ratelimit-limit')]).toEqual([
    429,
    '40',
    '600',
  ]);
  expect([refused.headers.get('x-ratelimit-remaining'), refused.headers.get('x-ratelimit-reset')]).toEqual([
    '0',
    String(Math.ceil((first + 60_000) / 1000)),
  ]);
  expect(await refused.json()).toStrictEqual({ title: 'Rate limited', status: 429, detail: expect.any(String) });
  // Missing parameters come before the limit, wrong ones after it.
  expect((await running.get('/a/api/offers?site_key=wall', from('203.0.113.9'))).status).toBe(422);
  expect((await running.get('/a/api/offers?site_key=wall&user_id=u&format=nonsense', from('203.0.113.9'))).status).toBe(
    429,
  );
  expect((await running.get(wall, from('203.0.113.10'))).status).toBe(200);
  expect(
    (await running.get('/a/api/offers?site_key=other%20wall&user_id=u&format=PTC', from('203.0.113.9'))).status,
  ).toBe(200);
  now = first + 60_000;
  expect((await running.get(lookup, from('203.0.113.9'))).status).toBe(200);
});

test('made-up keys are slowed down by address here too', async () => {
  const from = { headers: { 'x-forwarded-for': '198.51.100.77' } };
  for (let attempt = 0; attempt < 60; attempt++)
    await running.get(`/a/api/offers?site_key=guess-${attempt}&user_id=u&format=PTC`, from);
  const refused = await running.get('/a/api/offers?site_key=guess&user_id=u&format=PTC', from);
  expect([refused.status, refused.headers.get('retry-after'), refused.headers.get('x-ratelimit-limit')]).toEqual([
    429,
    '60',
    null,
  ]);
  expect((await running.get(wall, from)).status).toBe(200);
});
