import { get as httpGet } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { feedOffer, makeCurrent, temporaryData, writeSnapshot } from '../support/published-snapshot.ts';
import { startService } from '../support/running-service.ts';
import type { RunningService } from '../support/running-service.ts';
import { credentials, offers, publishSmallNetwork, snapshotId } from '../support/small-network.ts';

let running: RunningService;
let data: DataDirectory;
let remove: () => Promise<void>;
let now = Date.UTC(2026, 10, 20, 12, 30);

beforeAll(async () => {
  const temporary = await temporaryData();
  ({ data, remove } = temporary);
  await publishSmallNetwork(data);
  running = await startService(data, {}, () => now);
});

afterAll(async () => {
  await running.service.close();
  await remove();
});

const listC = `/c/api/v1/offers?${credentials('site-c')}`;
const listB = `/b/api/v1/offers?${credentials('site-b')}`;
const top = `/b/api/v1/offers/top-converting?${credentials('site-b')}`;
const reports = `/c/api/v1/reports?${credentials('site-c')}`;
const status = `/c/api/v1/status?${credentials('site-c')}`;

/** Bytes and headers as they come over the wire, with the request headers as they are given. */
async function wire(
  path: string,
  headers: Record<string, string> = {},
): Promise<{ status: number | undefined; headers: IncomingMessage['headers']; body: Buffer }> {
  const response = await new Promise<IncomingMessage>(
    (resolve, reject) => void httpGet(running.address + path, { headers }, resolve).on('error', reject),
  );
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) };
}

describe('how long an answer may be kept', () => {
  test.each([
    [listC, 200, 'private, max-age=60'],
    [listB, 200, 'private, max-age=60'],
    [reports, 200, 'private, max-age=60'],
    [top, 200, 'private, max-age=300'],
    [status, 200, 'no-store'],
    [`${listC}&limit=0`, 422, 'no-store'],
    [`${top}&take=0`, 400, 'no-store'],
    [`/b/api/v1/offers?${credentials('pending-b')}`, 202, 'no-store'],
    ['/c/api/v1/offers', 400, 'no-store'],
    ['/nowhere', 404, 'no-store'],
    ['/healthz', 200, 'no-store'],
  ])('%s', async (path, code, keeping) => {
    const answer = await wire(path);
    expect(answer.status).toBe(code);
    expect(answer.headers['cache-control']).toBe(keeping);
    expect(answer.headers.vary).toBe('Accept-Encoding');
    expect(answer.headers['referrer-policy']).toBe('no-referrer');
    expect(answer.headers.etag ?? 'none').toMatch(keeping === 'no-store' ? /^none$/ : /^"[\w-]+"$/);
  });
});

test.each([
  ['an unknown path', '/nowhere', {}, 404],
  ['a path that cannot be read', '/c/api/v1/%zz', {}, 404],
  ['another method', listC, { method: 'POST' }, 405],
  ['a method that few send', listC, { method: 'PROPFIND' }, 405],
  ['a wrong secret', '/c/api/v1/offers?site_key=site-c&site_secret=wrong', {}, 401],
  ['an address that is too long', `/c/api/v1/offers?${'x'.repeat(9000)}`, {}, 414],
  ['a picture that nobody has', '/asset/images/offers/none.png', {}, 404],
  ['readyz', '/readyz', {}, 200],
  ['metrics', '/metrics', {}, 200],
])('%s: nobody may keep that, whatever tag is asked about', async (_name, path, init, code) => {
  for (const condition of ['*', '"any"']) {
    const answer = await running.get(path, { ...init, headers: { 'if-none-match': condition } });
    expect([answer.status, answer.headers.get('cache-control'), answer.headers.get('etag')]).toEqual([
      code,
      'no-store',
      null,
    ]);
  }
});

describe('If-None-Match', () => {
  test.each([
    ['offers of C', listC],
    ['offers of B', listB],
    ['top-converting', top],
    ['reports', reports],
  ])('%s: an unchanged page is a 304 without a body', async (_name, path) => {
    const whole = await wire(path);
    const etag = whole.headers.etag ?? '';
    for (const condition of [etag, `W/${etag}`, `"other", ${etag}`, `"a,b",${etag}`, '*']) {
      const unchanged = await wire(path, { 'if-none-match': condition });
      expect(unchanged.status, condition).toBe(304);
      expect(unchanged.body).toHaveLength(0);
      expect(unchanged.headers['content-length']).toBeUndefined();
      for (const name of [
        'etag',
        'cache-control',
        'vary',
        'x-snapshot-id',
        'x-data-as-of',
        'x-api-version',
        'referrer-policy',
      ]) {
        expect(unchanged.headers[name], name).toBe(whole.headers[name]);
      }
    }
    for (const condition of ['', '"other"', etag.slice(1, -1), `"x${etag.slice(1)}`]) {
      expect((await wire(path, { 'if-none-match': condition })).status, condition).toBe(200);
    }
  });

  test('each page and each site has a tag of its own', async () => {
    const { headers } = await wire(listC);
    for (const other of [`${listC}&limit=1`, reports, listB, `/c/api/v1/offers?${credentials('site-b')}`]) {
      expect((await wire(other, { 'if-none-match': headers.etag ?? '' })).status).toBe(200);
    }
  });

  test('says nothing to those who may not have the page', async () => {
    const { headers } = await wire(listC);
    for (const condition of [headers.etag ?? '', '*']) {
      expect(
        (await wire('/c/api/v1/offers?site_key=site-c&site_secret=wrong', { 'if-none-match': condition })).status,
      ).toBe(401);
      expect((await wire(`/c/api/v1/offers?${credentials('pending-c')}`, { 'if-none-match': condition })).status).toBe(
        403,
      );
      expect((await wire(`${listC}&limit=0`, { 'if-none-match': condition })).status).toBe(422);
      expect((await wire(status, { 'if-none-match': condition })).status).toBe(200);
    }
  });

  test('HEAD may ask so too', async () => {
    const { headers } = await wire(listC);
    expect(
      (await running.get(listC, { method: 'HEAD', headers: { 'if-none-match': headers.etag ?? '' } })).status,
    ).toBe(304);
  });
});

describe('Accept-Encoding', () => {
  const decoded: Record<string, (body: Buffer) => Buffer> = { gzip: gunzipSync, br: brotliDecompressSync };

  test.each([
    ['gzip', 'gzip'],
    ['br', 'br'],
    ['gzip, deflate, br, zstd', 'br'],
    ['x-gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['br;q=0.5, gzip', 'gzip'],
    ['br;q=0, *', 'gzip'],
    ['*', 'br'],
    ['*;q=0.1', 'br'],
    ['gzip;q=0.3, identity;q=0.5', undefined],
    ['br;q=0, gzip;q=0', undefined],
    ['identity;q=0, gzip;q=0.1', 'gzip'],
    ['*;q=0', undefined],
    ['deflate', undefined],
    ['', undefined],
    ['gzip;q=2, br;q=x', undefined],
  ])('%s is answered with %s', async (accepted, coding) => {
    const plain = await wire(listC);
    const answer = await wire(listC, { 'accept-encoding': accepted });
    expect(answer.headers['content-encoding']).toBe(coding);
    expect(Number(answer.headers['content-length'])).toBe(answer.body.length);
    const body = coding === undefined ? answer.body : decoded[coding]?.(answer.body);
    expect(body?.equals(plain.body)).toBe(true);
    expect(answer.body.length < plain.body.length).toBe(coding !== undefined);
  });

  test('each form has a tag of its own, and the same bytes every time', async () => {
    const forms = await Promise.all(
      ['identity', 'gzip', 'br', 'gzip', 'br'].map((accepted) => wire(reports, { 'accept-encoding': accepted })),
    );
    const tags = forms.map(({ headers }) => headers.etag);
    expect(new Set(tags).size).toBe(3);
    expect(tags.slice(1, 3)).toEqual(tags.slice(3));
    expect(forms[1]?.body.equals(forms[3]?.body ?? Buffer.alloc(0))).toBe(true);
    const gzipTag = tags[1] ?? '';
    expect((await wire(reports, { 'accept-encoding': 'gzip', 'if-none-match': gzipTag })).status).toBe(304);
    expect((await wire(reports, { 'accept-encoding': 'br', 'if-none-match': gzipTag })).status).toBe(200);
    expect((await wire(reports, { 'if-none-match': gzipTag })).status).toBe(200);
  });

  test('a page that fills one packet either way leaves uncompressed, unless that is refused', async () => {
    const small = `${listC}&offset=100`;
    expect((await wire(small, { 'accept-encoding': 'gzip, br' })).headers['content-encoding']).toBeUndefined();
    expect((await wire(small, { 'accept-encoding': 'gzip, identity;q=0' })).headers['content-encoding']).toBe('gzip');
    expect((await wire(status, { 'accept-encoding': 'gzip, br' })).headers['content-encoding']).toBeUndefined();
  });
});

describe('the top-converting answer', () => {
  let published = 0;

  beforeEach(() => {
    now += 3_600_000;
  });

  /** A snapshot whose hottest offer bears its number in the title; returns its id. */
  async function publishAnother(): Promise<string> {
    const id = `${snapshotId}-${++published}`;
    const hottest = feedOffer({ id: 3, titles: { en: id }, figures: { epc: '1', cvr: '1', trend: 'up', rank: 1 } });
    await writeSnapshot(data, id, { offers: [...offers.slice(0, 2), hottest] });
    await makeCurrent(data, id);
    await running.service.poll();
    return id;
  }

  test('is held 300 seconds, also when a new snapshot comes in between', async () => {
    const old = await publishAnother();
    const first = await wire(top);
    const next = await publishAnother();
    now += 299_999;
    const held = await wire(top);
    expect(held.body.equals(first.body)).toBe(true);
    expect(held.headers['x-snapshot-id']).toBe(old);
    expect((await wire(top, { 'if-none-match': first.headers.etag ?? '' })).status).toBe(304);
    // Other pages are new at once.
    expect((await wire(listB)).headers['x-snapshot-id']).toBe(next);
    now += 1;
    const renewed = await wire(top, { 'if-none-match': first.headers.etag ?? '' });
    expect(renewed.status).toBe(200);
    expect(renewed.headers['x-snapshot-id']).toBe(next);
    expect(JSON.parse(renewed.body.toString()).offers[0]).toMatchObject({ id: 3, title: next });
  });

  test('is held for each parameter set and site by itself', async () => {
    const old = await publishAnother();
    await wire(top);
    const next = await publishAnother();
    const snapshotOf = async (path: string) => (await wire(path)).headers['x-snapshot-id'];
    expect(await snapshotOf(`${top}&take=100&skip=0&type=&unknown=1`)).toBe(old);
    expect(await snapshotOf(`${top}&take=99`)).toBe(next);
    expect(await snapshotOf(`${top}&type=offer`)).toBe(next);
    expect(await snapshotOf(`/b/api/v1/offers/top-converting?${credentials('site-c')}`)).toBe(next);
    expect((await wire(`${top}&take=0`)).status).toBe(400);
    expect((await wire(`/b/api/v1/offers/top-converting?site_key=site-b&site_secret=wrong`)).status).toBe(401);
  });

  test('is not held longer by a clock that is set back', async () => {
    await publishAnother();
    await wire(top);
    const next = await publishAnother();
    now -= 1000;
    expect((await wire(top)).headers['x-snapshot-id']).toBe(next);
  });
});
