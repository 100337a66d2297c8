import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { credentials, serveSmallNetwork } from '../support/small-network.ts';

let running: Awaited<ReturnType<typeof serveSmallNetwork>>;

beforeAll(async () => {
  // Two seconds from one request to the next: more than sixty failures within a minute would be refused as such.
  let now = Date.UTC(2026, 10, 20, 12, 30);
  running = await serveSmallNetwork({}, () => (now += 2000));
});

afterAll(() => running.close());

const right = credentials('site-c');
const key = 'site_key=site-c';
const secret = 'site_secret=site-c-secret-0123456789';

const missing = [
  '',
  key,
  secret,
  `site_key=&${secret}`,
  `${key}&site_secret=`,
  `site_key&${secret}`,
  `type=none&${key}`,
];
const failing = [
  `${key}&site_secret=wrong`,
  `${key}&site_secret=${'x'.repeat(5000)}`,
  `site_key=nobody&${secret}`,
  `site_key=SITE-C&${secret}`,
  `site_key=__proto__&${secret}`,
  `${right}&${secret}`,
  `${right}&${key}`,
  `${key}&site_secret=a&site_secret=b`,
  `site_key=%ff&${secret}`,
  `${key}&site_secret=%zz`,
  `${key}&site_secret=site-b-secret-0123456789`,
  `${key}&site_secret=wrong&type=none&take=x`,
];

describe.each(['/b/api/v1/offers', '/b/api/v1/offers/top-converting', '/api/v1/offers/top-converting'])(
  'Variant B: %s',
  (path) => {
    test.each(missing)('missing_fields: ?%s', async (query) => {
      const body = await running.json(`${path}?${query}`, 400);
      expect(body).toStrictEqual({ error: 'missing_fields', message: expect.stringMatching(/site_key|site_secret/) });
    });

    test.each(failing)('authentication_failed: ?%s', async (query) => {
      expect(await running.json(`${path}?${query}`, 401)).toStrictEqual({
        error: 'authentication_failed',
        message: 'no site has this site_key and site_secret',
      });
    });

    test('pending_site comes before wrong parameters', async () => {
      const body = await running.json(`${path}?${credentials('pending-b')}&type=none`, 202);
      expect(body).toStrictEqual({ error: 'pending_site', message: expect.any(String) });
      expect(await running.json(`${path}?${credentials('pending-c')}`, 202)).toMatchObject({ error: 'pending_site' });
    });
  },
);

describe.each([
  '/c/api/v1/offers',
  '/c/api/v1/status',
  '/c/api/v1/reports',
  '/api/v1/status',
  '/api/v1/reports',
  '/api/v1/offers',
])('Variant C: %s', (path) => {
  test.each(missing)('MISSING_CREDENTIALS: ?%s', async (query) => {
    const body = await running.json(`${path}?${query}`, 400);
    expect(body).toStrictEqual({
      success: false,
      error: { code: 'MISSING_CREDENTIALS', message: expect.stringMatching(/site_key|site_secret/) },
    });
  });

  test.each(failing)('INVALID_CREDENTIALS: ?%s', async (query) => {
    const error = { code: 'INVALID_CREDENTIALS', message: 'no site has this site_key and site_secret' };
    expect(await running.json(`${path}?${query}`, 401)).toStrictEqual({ success: false, error });
  });

  test('SITE_PENDING comes before wrong parameters', async () => {
    const body = await running.json(`${path}?${credentials('pending-c')}&type=none`, 403);
    expect(body).toStrictEqual({ success: false, error: { code: 'SITE_PENDING', message: expect.any(String) } });
  });
});

test('a pending site gets a secret check first', async () => {
  expect(await running.json('/c/api/v1/offers?site_key=pending-c&site_secret=wrong', 401)).toMatchObject({
    error: { code: 'INVALID_CREDENTIALS' },
  });
});

test('credentials are percent-decoded, and the key is percent-encoded in links', async () => {
  const body = await running.json(`/c/api/v1/offers?${credentials('a key/with ünusual (parts)')}&limit=1`);
  expect(body.offers[0].tracking_url).toBe(
    `http://127.0.0.1:8082/redirect/manual-offer/1/user/{user_id}/site/a%20key%2Fwith%20%C3%BCnusual%20%28parts%29`,
  );
});

test('a site that is newer than the snapshot is served at the commission of sites.json', async () => {
  const body = await running.json(`/c/api/v1/offers?${credentials('newcomer')}&limit=1`);
  expect(body.offers[0]).toMatchObject({ payout: 2.25, updated_at: '2026-11-10T10:00:00.25+00:00' });
});
