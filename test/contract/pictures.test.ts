import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { imageName } from '../../src/pipeline/landing/catalog/image-name.ts';
import { feedOffer, makeCurrent, temporaryData, writeSites, writeSnapshot } from '../support/published-snapshot.ts';
import { serviceForTest, startService } from '../support/running-service.ts';
import type { RunningService } from '../support/running-service.ts';

let running: RunningService;
let remove: () => Promise<void>;

const pictures = {
  web: 'https://cdn.advertiser.example/a b/é.png?size=1',
  gone: 'http://cdn.advertiser.example/gone.jpg',
  file: 'banner.png',
  mail: 'mailto:pictures@advertiser.example',
  script: 'javascript:alert(1)',
  password: 'https://user:password@advertiser.example/x.png',
};

beforeAll(async () => {
  const temporary = await temporaryData();
  remove = temporary.remove;
  await writeSites(temporary.data, [{ site_key: 's', site_secret: 'a-long-enough-secret' }]);
  const offers = Object.values(pictures).map((source, place) =>
    feedOffer({ id: place + 1, image_source: source, image_name: imageName(source) }),
  );
  Object.assign(offers[1] ?? {}, { status: 'vanished', removed_at: '2026-11-19T00:00:00Z' });
  await writeSnapshot(temporary.data, 'one', { offers });
  await makeCurrent(temporary.data, 'one');
  running = await startService(temporary.data);
});

afterAll(async () => {
  await running.service.close();
  await remove();
});

const pathOf = (source: string, base = '') => `${base}/asset/images/offers/${imageName(source)}`;
const visit = (path: string, method = 'GET') => running.get(path, { redirect: 'manual', method });

test.each(['', '/a', '/b', '/c'])('a picture under %s/asset leads to the advertiser’s address', async (base) => {
  const answer = await visit(pathOf(pictures.web, base));
  expect(answer.status).toBe(302);
  expect(answer.headers.get('location')).toBe('https://cdn.advertiser.example/a%20b/%C3%A9.png?size=1');
  expect(answer.headers.get('cache-control')).toBe('private, max-age=60');
  expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
  expect(answer.headers.get('x-snapshot-id')).toBe('one');
  expect(answer.headers.get('etag')).toMatch(/^"[\w-]+"$/);
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(await answer.json()).toStrictEqual({ location: answer.headers.get('location') });
  expect((await visit(pathOf(pictures.web, base), 'HEAD')).headers.get('location')).toBe(
    answer.headers.get('location'),
  );
});

test('the address that offers link to is one of them', async () => {
  const { offers } = await running.json('/c/api/v1/offers?site_key=s&site_secret=a-long-enough-secret');
  expect(offers[0].image).toBe(running.address + pathOf(pictures.web));
});

test('pictures of offers that are gone are still there', async () => {
  expect((await visit(pathOf(pictures.gone))).headers.get('location')).toBe(pictures.gone);
});

test.each([pictures.file, pictures.mail, pictures.script, pictures.password])(
  'what is not an address on the web for everybody is a 404: %s',
  async (source) => {
    const answer = await visit(pathOf(source));
    expect([answer.status, answer.headers.get('location')]).toEqual([404, null]);
  },
);

test.each([
  ['/asset/images/offers/nothing.png', { success: false, error: { code: 'NOT_FOUND' } }],
  ['/a/asset/images/offers/nothing.png', { title: 'Not found', status: 404 }],
  ['/b/asset/images/offers/__proto__', { error: 'not_found' }],
  ['/c/asset/images/offers/%ff', { error: { code: 'NOT_FOUND' } }],
  ['/c/asset/images/offers/', { error: { code: 'NOT_FOUND' } }],
  ['/c/asset/images/offers/a/b.png', { error: { code: 'NOT_FOUND' } }],
])('%s is a 404', async (path, body) => {
  expect(await running.json(path, 404)).toMatchObject(body);
});

test('other methods are a 405', async () => {
  const answer = await visit(pathOf(pictures.web, '/b'), 'POST');
  expect([answer.status, await answer.json()]).toMatchObject([405, { error: 'method_not_allowed' }]);
});

test('before anything is published they are a 503', async () => {
  const temporary = await temporaryData();
  onTestFinished(temporary.remove);
  const empty = await serviceForTest(temporary.data);
  expect(await empty.json('/a/asset/images/offers/x.png', 503)).toMatchObject({ title: 'Service unavailable' });
});
