import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { expectDescribed } from '../../support/described-headers.ts';
import { temporaryData, writeSites } from '../../support/published-snapshot.ts';
import { serviceForTest } from '../../support/running-service.ts';
import { credentials, serveSmallNetwork, sites } from '../../support/small-network.ts';

let running: Awaited<ReturnType<typeof serveSmallNetwork>>;
let document: any;

beforeAll(async () => {
  running = await serveSmallNetwork();
  document = await running.json('/openapi.json');
});

afterAll(() => running.close());

const asB = credentials('site-b');
const asC = credentials('site-c');

test.each([
  [200, 'offers', '/a/api/offers', 'site_key=site-a&user_id=u&format=offerwall'],
  [422, 'a parameter missing', '/a/api/offers', 'site_key=site-a'],
  [401, 'an unknown site', '/a/api/click-lookup', 'site_key=nobody&click_id=c'],
  [414, 'too long an address', '/a/api/offers', 'x'.repeat(8200)],
  [200, 'offers', '/b/api/v1/offers', asB],
  [400, 'a wrong parameter', '/b/api/v1/offers', `${asB}&take=0`],
  [202, 'a site not approved', '/b/api/v1/offers', credentials('pending-b')],
  [200, 'offers', '/b/api/v1/offers/top-converting', asB],
  [401, 'a wrong type', '/b/api/v1/offers/top-converting', `${asB}&type=x`],
  [200, 'offers', '/c/api/v1/offers', asC],
  [400, 'no credentials', '/c/api/v1/offers', ''],
  [401, 'a wrong secret', '/c/api/v1/offers', 'site_key=site-c&site_secret=x'],
  [403, 'a site not approved', '/c/api/v1/offers', credentials('pending-c')],
  [422, 'a wrong parameter', '/c/api/v1/offers', `${asC}&country=x`],
  [200, 'status', '/c/api/v1/status', asC],
  [200, 'reports', '/c/api/v1/reports', asC],
])('%i, %s: %s', async (status, _what, path, query) => {
  const { responses } = document.paths[path].get;
  const get = (headers = {}) => running.get(`${path}?${query}`, { headers });
  const plain = await get();
  expect(plain.status).toBe(status);
  expectDescribed(responses[status], plain, 'plain');
  expectDescribed(responses[status], await get({ 'accept-encoding': 'br' }), 'compressed');
  const tag = plain.headers.get('etag');
  const again = await get({ 'if-none-match': tag ?? '"none"' });
  expect(again.status).toBe(tag === null ? status : 304);
  expectDescribed(responses[again.status], again, 'asked again');
  // What is never unchanged is not said to be so.
  expect(status !== 200 || '304' in responses === (tag !== null)).toBe(true);
});

test.each([
  [404, 'no address to send to', 'test', {}],
  [404, 'no such postback', '{postback_id}/resend', {}],
  [422, 'a wrong parameter', '{postback_id}/resend', { attempts: 'x' }],
  [401, 'a wrong secret', 'test', { site_secret: 'x' }],
])('%i, %s: POST /c/api/v1/postbacks/%s', async (status, _what, order, parameters) => {
  const path = `/c/api/v1/postbacks/${order}`;
  const body = new URLSearchParams({ ...Object.fromEntries(new URLSearchParams(asC)), ...parameters });
  const answer = await running.get(path.replace(/[{}]/g, ''), { method: 'POST', body });
  expect(answer.status).toBe(status);
  expectDescribed(document.paths[path].post.responses[status], answer, path);
});

test('429, the requests of a site used up', async () => {
  const path = '/c/api/v1/offers';
  let answer: Response;
  do answer = await running.get(`${path}?${credentials('changed')}`);
  while (answer.status === 200);
  expect(answer.status).toBe(429);
  expectDescribed(document.paths[path].get.responses[429], answer, path);
});

test('503, nothing published', async () => {
  const path = '/c/api/v1/offers';
  const empty = await temporaryData();
  onTestFinished(empty.remove);
  await writeSites(empty.data, sites);
  const answer = await (await serviceForTest(empty.data)).get(`${path}?${asC}`);
  expect(answer.status).toBe(503);
  expectDescribed(document.paths[path].get.responses[503], answer, path);
});

test('404 and 405, beside the operations', async () => {
  const { UnknownPathC, WrongMethodB } = document.components.responses;
  expectDescribed(UnknownPathC, await running.get('/c/nowhere'), 'no such path');
  expectDescribed(WrongMethodB, await running.get(`/b/api/v1/offers?${asB}`, { method: 'POST' }), 'no such method');
});
