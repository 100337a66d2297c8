import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { temporaryData, writeSites } from '../support/published-snapshot.ts';
import { serviceForTest } from '../support/running-service.ts';
import type { RunningService } from '../support/running-service.ts';
import { publishSmallNetwork } from '../support/small-network.ts';
import { slow } from '../support/slow.ts';

let data: DataDirectory;
let running: RunningService;
const start = Date.UTC(2026, 10, 20, 12, 30);
let now: number;

const sites = [
  { site_key: 'three', site_secret: 'secret-of-three-012345', rate_limit_per_hour: 3 },
  { site_key: 'other', site_secret: 'secret-of-other-012345', rate_limit_per_hour: 3 },
  { site_key: 'waiting', site_secret: 'secret-of-waiting-0123', rate_limit_per_hour: 3, status: 'pending' },
];
const of = (key: string) =>
  `site_key=${key}&site_secret=${sites.find(({ site_key }) => site_key === key)?.site_secret}`;
const listC = `/c/api/v1/offers?${of('three')}`;
const listB = `/b/api/v1/offers?${of('three')}`;
const top = `/b/api/v1/offers/top-converting?${of('three')}`;
const reports = `/c/api/v1/reports?${of('three')}`;
const status = `/c/api/v1/status?${of('three')}`;
const proxied = { trusted_proxies: ['127.0.0.1'] };

beforeEach(async () => {
  const temporary = await temporaryData();
  data = temporary.data;
  onTestFinished(temporary.remove);
  await publishSmallNetwork(data);
  await writeSites(data, sites);
  now = start;
  running = await serviceForTest(data, proxied, () => now);
});

/** Limit, remaining and reset, and how long to wait; null where the answer does not say. */
function limitsOf({ headers }: Response): (string | null)[] {
  return ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'retry-after'].map((name) =>
    headers.get(name),
  );
}

const seconds = (milliseconds: number) => String(Math.ceil(milliseconds / 1000));
const nothing = [null, null, null, null];

describe('Variant C', () => {
  test('every answer shows what is left, and the request after the last is a 429', async () => {
    for (const left of ['2', '1', '0']) {
      const answer = await running.get(listC);
      expect(answer.status).toBe(200);
      expect(limitsOf(answer)).toEqual(['3', left, seconds(start + 3_600_000), null]);
      now += 60_500;
    }
    const refused = await running.get(listC);
    expect(refused.status).toBe(429);
    expect(limitsOf(refused)).toEqual(['3', '0', seconds(start + 3_600_000), seconds(3_600_000 - 3 * 60_500)]);
    expect(refused.headers.get('x-api-version')).toBe('1.0');
    expect(refused.headers.get('cache-control')).toBe('no-store');
    expect(await refused.json()).toStrictEqual({
      success: false,
      error: { code: 'RATE_LIMIT_EXCEEDED', message: expect.any(String) },
    });
  });

  test('the window slides: each request makes room 60 minutes after it was counted, to the millisecond', async () => {
    for (const at of [0, 1000, 5000]) {
      now = start + at;
      expect((await running.get(listC)).status).toBe(200);
    }
    const statusAt = async (at: number) => {
      now = start + at;
      return (await running.get(listC)).status;
    };
    expect(await statusAt(3_599_999)).toBe(429);
    expect(await statusAt(3_600_000)).toBe(200);
    expect(await statusAt(3_600_999)).toBe(429);
    expect(await statusAt(3_601_000)).toBe(200);
    expect(await statusAt(3_601_001)).toBe(429);
  });

  test('a 429 does not count', async () => {
    for (let request = 0; request < 3; request++) await running.get(listC);
    now += 1_000_000;
    for (let request = 0; request < 20; request++) expect((await running.get(listC)).status).toBe(429);
    now = start + 3_600_000;
    expect(limitsOf(await running.get(listC)).slice(0, 2)).toEqual(['3', '2']);
  });

  test('errors in parameters, HEAD and 304 count', async () => {
    const wrong = await running.get(`${listC}&limit=0`);
    expect([wrong.status, ...limitsOf(wrong).slice(0, 2)]).toEqual([422, '3', '2']);
    const head = await running.get(listC, { method: 'HEAD' });
    expect([head.status, ...limitsOf(head).slice(0, 2)]).toEqual([200, '3', '1']);
    const unchanged = await running.get(listC, { headers: { 'if-none-match': head.headers.get('etag') ?? '' } });
    expect([unchanged.status, ...limitsOf(unchanged).slice(0, 2)]).toEqual([304, '3', '0']);
    expect((await running.get(`${listC}&limit=0`)).status).toBe(429);
    expect((await running.get(listC, { method: 'HEAD' })).status).toBe(429);
    expect((await running.get(listC, { headers: { 'if-none-match': head.headers.get('etag') ?? '' } })).status).toBe(
      429,
    );
  });

  test('reports have a bucket of their own', async () => {
    for (let request = 0; request < 4; request++) await running.get(listC);
    expect(limitsOf(await running.get(reports)).slice(0, 2)).toEqual(['3', '2']);
  });

  test('status is free and shows the offers bucket, untouched', async () => {
    expect(limitsOf(await running.get(status))).toEqual(['3', '3', seconds(start), null]);
    await running.get(listC);
    await running.get(reports);
    for (let request = 0; request < 10; request++)
      expect(limitsOf(await running.get(status))).toEqual(['3', '2', seconds(start + 3_600_000), null]);
    for (let request = 0; request < 3; request++) await running.get(listC);
    const exhausted = await running.get(status);
    expect(exhausted.status).toBe(200);
    expect(limitsOf(exhausted).slice(0, 2)).toEqual(['3', '0']);
  });

  test('a changed limit holds from the next request on', async () => {
    for (let request = 0; request < 3; request++) await running.get(listC);
    await writeSites(
      data,
      sites.map((site) => ({ ...site, rate_limit_per_hour: 5 })),
    );
    await running.service.poll();
    expect(limitsOf(await running.get(listC)).slice(0, 2)).toEqual(['5', '1']);
    await writeSites(
      data,
      sites.map((site) => ({ ...site, rate_limit_per_hour: 1 })),
    );
    await running.service.poll();
    expect(limitsOf(await running.get(status)).slice(0, 2)).toEqual(['1', '0']);
    expect((await running.get(listC)).status).toBe(429);
  });
});

describe('Variant B', () => {
  test('offers and top-converting share a bucket; only the 429 speaks of it', async () => {
    expect(limitsOf(await running.get(listB))).toEqual(nothing);
    expect(limitsOf(await running.get(top))).toEqual(nothing);
    expect((await running.get(`${top}&take=0`)).status).toBe(400);
    for (const path of [listB, top, `/api/v1/offers/top-converting?${of('three')}`]) {
      const refused = await running.get(path);
      expect(refused.status).toBe(429);
      expect(limitsOf(refused)).toEqual(['3', '0', seconds(start + 3_600_000), '3600']);
      expect(await refused.json()).toStrictEqual({ error: 'too_many_requests', message: expect.any(String) });
    }
    // The bucket of Variant C is another.
    expect((await running.get(listC)).status).toBe(200);
  });
});

test('sites do not share', async () => {
  for (let request = 0; request < 4; request++) await running.get(listC);
  expect(limitsOf(await running.get(`/c/api/v1/offers?${of('other')}`)).slice(0, 2)).toEqual(['3', '2']);
});

test('the bare host counts with the base addresses', async () => {
  await running.get(listC);
  expect(limitsOf(await running.get(`/api/v1/offers?${of('three')}`)).slice(0, 2)).toEqual(['3', '1']);
  expect(limitsOf(await running.get(`/api/v1/status?${of('three')}`)).slice(0, 2)).toEqual(['3', '1']);
});

test('a site that is not approved sees its bucket and does not use it', async () => {
  for (let request = 0; request < 5; request++) {
    const answer = await running.get(`/c/api/v1/offers?${of('waiting')}`);
    expect([answer.status, ...limitsOf(answer).slice(0, 2)]).toEqual([403, '3', '3']);
  }
});

test.each([
  '/c/api/v1/offers',
  '/c/api/v1/offers?site_key=three',
  '/c/api/v1/offers?site_key=three&site_secret=x',
  '/c/nowhere',
  '/healthz',
])('an answer to nobody identified shows no limits: %s', async (path) => {
  expect(limitsOf(await running.get(path))).toEqual(nothing);
});

test('a restart does not refill a window', async () => {
  await running.get(listC);
  await running.get(listC);
  await running.get(listB);
  await running.service.close();
  now += 600_000;
  running = await serviceForTest(data, proxied, () => now);
  expect(limitsOf(await running.get(listC))).toEqual(['3', '0', seconds(start + 3_600_000), null]);
  expect((await running.get(listC)).status).toBe(429);
  expect((await running.get(listB)).status).toBe(200);
  expect((await running.get(listB)).status).toBe(200);
  expect((await running.get(listB)).status).toBe(429);
});

describe('failed identification', () => {
  const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });
  const wrong = (attempt: number) =>
    `/c/api/v1/offers?site_key=${attempt % 2 === 0 ? 'three' : `made-up-${attempt}`}&site_secret=guess-${attempt}`;

  test('past 60 within a minute further ones are a 429, while a right one passes and others are not held up', async () => {
    for (let attempt = 0; attempt < 60; attempt++)
      expect((await running.get(wrong(attempt), from('203.0.113.9'))).status).toBe(401);
    now += 12_000;
    const refused = await running.get(wrong(60), from('203.0.113.9'));
    expect(refused.status).toBe(429);
    expect(limitsOf(refused)).toEqual([null, null, null, '48']);
    expect(await refused.json()).toMatchObject({ error: { code: 'RATE_LIMIT_EXCEEDED' } });
    expect(await running.json('/b/api/v1/offers?site_key=x&site_secret=y', 401)).toMatchObject({
      error: 'authentication_failed',
    });
    expect((await running.get('/b/api/v1/offers?site_key=x&site_secret=y', from('203.0.113.9'))).status).toBe(429);
    const right = await running.get(listC, from('203.0.113.9'));
    expect([right.status, ...limitsOf(right).slice(0, 2)]).toEqual([200, '3', '2']);
    now = start + 60_000;
    expect((await running.get(wrong(61), from('203.0.113.9'))).status).toBe(401);
  });

  test('anyone who has a /64 of IPv6 is one client', async () => {
    for (let attempt = 0; attempt < 60; attempt++) await running.get(wrong(attempt), from(`2001:db8:1:2::${attempt}`));
    expect((await running.get(wrong(60), from('2001:db8:1:2:ffff::1'))).status).toBe(429);
    expect((await running.get(wrong(61), from('2001:db8:1:3::1'))).status).toBe(401);
  });

  test('missing credentials are no guess', async () => {
    for (let attempt = 0; attempt < 70; attempt++)
      expect((await running.get('/c/api/v1/offers?site_key=three', from('203.0.113.9'))).status).toBe(400);
  });

  test('X-Forwarded-For of somebody who is no trusted proxy is not believed', async () => {
    const direct = await serviceForTest(data, {}, () => now);
    for (let attempt = 0; attempt < 60; attempt++) await direct.get(wrong(attempt), from(`203.0.113.${attempt}`));
    expect((await direct.get(wrong(60), from('192.0.2.1'))).status).toBe(429);
  });

  test('ten thousand requests with made-up keys and addresses leave a real site’s window untouched', slow, async () => {
    await running.get(listC);
    const attack = async (first: number) => {
      for (let attempt = first; attempt < 10_000; attempt += 8) {
        const { status: answered } = await running.get(
          wrong(attempt),
          from(`10.${attempt % 3}.${attempt >> 8}.${attempt & 255}`),
        );
        if (answered !== 401) throw new Error(`attempt ${attempt}: ${answered}`);
      }
    };
    await Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map(attack));
    expect(limitsOf(await running.get(status)).slice(0, 2)).toEqual(['3', '2']);
    expect(limitsOf(await running.get(listC)).slice(0, 2)).toEqual(['3', '1']);
  });

  test('an unknown key and a wrong secret get the same answer', async () => {
    const seen = async (path: string) => {
      const {
        status: answered,
        headers,
        ...response
      } = await running
        .get(path)
        .then(async (answer) => ({ status: answer.status, headers: answer.headers, body: await answer.text() }));
      return { answered, headers: [...headers].filter(([name]) => name !== 'date'), ...response };
    };
    for (const base of ['/b', '/c', '']) {
      const wrongSecret = await seen(`${base}/api/v1/offers?site_key=three&site_secret=wrong`);
      expect(await seen(`${base}/api/v1/offers?site_key=nobody&site_secret=wrong`)).toEqual(wrongSecret);
      expect(await seen(`${base}/api/v1/offers?site_key=waiting&site_secret=wrong`)).toEqual(wrongSecret);
    }
  });
});
