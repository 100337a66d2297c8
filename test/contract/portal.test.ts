import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { SqliteStore } from '../../src/postbacks/store/sqlite-store.ts';
import { outboxRow } from '../support/deliveries.ts';
import { temporaryData, writeSites } from '../support/published-snapshot.ts';
import { startService, type RunningService } from '../support/running-service.ts';
import { offers, publishSmallNetwork } from '../support/small-network.ts';

const site = {
  site_key: 'own <"&site',
  site_secret: 'the-secret-of-the-own-site',
  name: '<b>Wall</b>',
  postback: { url: 'http://127.0.0.1:1/told?token=kept', method: 'POST' },
};
const late = { site_key: 'late', site_secret: 'the-secret-of-the-late-site', status: 'pending' };
const paths = ['/portal', '/portal/conversions', '/portal/postbacks', '/portal/feed', '/portal/signatures'];

let data: DataDirectory;
let remove: () => Promise<void>;
let running: RunningService;
let now = Date.UTC(2026, 10, 20, 12);
let cookie: string;

beforeAll(async () => {
  ({ data, remove } = await temporaryData());
  await publishSmallNetwork(data);
  await writeSites(data, [site, late]);
  const store = SqliteStore.open(data);
  await store.importOutbox('first', [outboxRow(1, { siteKey: site.site_key, nextAttemptAt: undefined } as object)]);
  await store.close();
  running = await startService(data, {}, () => now);
  cookie = cookieOf(await signIn(site));
});

afterAll(async () => {
  await running.service.close();
  await remove();
});

const post = (path: string, body: Record<string, string>, headers: Record<string, string> = {}) =>
  running.get(path, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams(body),
    headers: { origin: running.address, ...headers },
  });
const signIn = ({ site_key, site_secret }: typeof late | typeof site, headers?: Record<string, string>) =>
  post('/portal/sign-in', { site_key, site_secret }, headers);
const cookieOf = (answer: Response) => answer.headers.get('set-cookie')?.split(';')[0] ?? '';
const look = (path: string, own = cookie) => running.get(path, { redirect: 'manual', headers: { cookie: own } });

test('who is signed in sees every page, escaped, with no script and nothing from elsewhere', async () => {
  for (const path of paths) {
    const answer = await look(path);
    const page = await answer.text();
    expect([path, answer.status, answer.headers.get('content-type')]).toEqual([path, 200, 'text/html; charset=utf-8']);
    expect(answer.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'self';.*frame-ancestors 'none'$/,
    );
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(page).toContain('&lt;b&gt;Wall&lt;/b&gt;');
    expect(page).not.toMatch(/<b>Wall|<script|style="|kept/);
    expect(page).not.toContain(site.site_secret);
    expect(page).toContain(`href="${path}" aria-current="page"`);
  }
  const style = /href="(\/portal\/style\.css\?\w+)"/.exec(await (await look('/portal')).text())?.[1] ?? '';
  expect((await look(style)).headers.get('cache-control')).toContain('immutable');
});

test('the feed has the site’s own links and prices, by the same filters as the interface', async () => {
  const page = await (await look('/portal/feed?type=multireward')).text();
  const own = offers.filter(({ events, removed_at }) => (events?.length ?? 0) > 0 && removed_at === null);
  expect(own.length).toBeGreaterThan(1);
  for (const { id } of own)
    expect(page).toContain(
      `/redirect/manual-offer/${id}/user/{user_id}/site/${encodeURIComponent(site.site_key)}</code>`,
    );
  expect(page).toContain('Reach level 5: 1.0001');
  const refused = await look('/portal/feed?country=X1&category=%3Ci%3E');
  expect([refused.status, (await refused.text()).includes('country must be')]).toEqual([422, true]);
  expect(await (await look('/portal/feed?category=%3Ci%3E')).text()).toContain('value="&lt;i&gt;"');
  expect(await (await look('/portal?from=2026-11-01')).text()).toContain('No click and no conversion');
});

test('the form of the statement takes either day alone; what is left empty bounds nothing', async () => {
  const fieldsOf = async (path: string) => {
    const answer = await look(path);
    const fields = [...(await answer.text()).matchAll(/name="(?:from|to)" value="([^"]*)"/g)];
    return [answer.status, ...fields.map(([, value]) => value)];
  };
  expect(await fieldsOf('/portal?from=&to=2026-11-20')).toEqual([200, '', '2026-11-20']);
  expect(await fieldsOf('/portal?from=2026-11-01&to=')).toEqual([200, '2026-11-01', '']);
  expect(await fieldsOf('/portal?from=&to=')).toEqual([200, '2026-10-22', '']);
});

describe('a sign-in', () => {
  test('gives a cookie that no page can read, and ends with it', async () => {
    const answer = await signIn(site);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/portal']);
    expect(answer.headers.get('set-cookie')).toMatch(/; Path=\/portal; Max-Age=43200; HttpOnly; SameSite=Lax$/);
    now += 1;
    const out = await post('/portal/sign-out', {}, { cookie: cookieOf(await signIn(site)) });
    expect(out.headers.get('set-cookie')).toMatch(/^offerline_portal=; .*Max-Age=0/);
  });

  test('that is signed out is over for all copies of its cookie, also after a restart; others go on', async () => {
    now += 1;
    const kept = cookieOf(await signIn(site));
    now += 1;
    const ended = cookieOf(await signIn(site));
    now += 1;
    await post('/portal/sign-out', {}, { cookie: ended });
    const seen = async () => [(await look('/portal', kept)).status, (await look('/portal', ended)).status];
    expect(await seen()).toEqual([200, 303]);
    expect((await post('/portal/test', {}, { cookie: ended })).headers.get('location')).toBe('/portal/sign-in');
    await running.service.close();
    running = await startService(data, {}, () => now);
    expect(await seen()).toEqual([200, 303]);
    now += 12 * 3_600_000 - 10;
    expect(await seen()).toEqual([200, 303]);
    cookie = cookieOf(await signIn(site));
  });

  test.each([
    ['without one', ''],
    [
      'with one of another secret',
      'offerline_portal=b3duIDwiJnNpdGU.1795200000000.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
    ],
    ['with half of one', 'offerline_portal=x.y'],
  ])('is asked for %s', async (_what, own) => {
    for (const path of paths) {
      const answer = await look(path, own);
      expect([answer.status, answer.headers.get('location')]).toEqual([303, '/portal/sign-in']);
    }
  });

  test('ends after twelve hours, and with the site’s secret or approval', async () => {
    now += 12 * 3_600_000 - 1000;
    expect((await look('/portal/signatures')).status).toBe(200);
    now += 1000;
    expect((await look('/portal/signatures')).status).toBe(303);
    cookie = cookieOf(await signIn(site));
    const previous = {
      previous_site_secret: site.site_secret,
      previous_secret_until: new Date(now + 3_600_000).toISOString(),
    };
    for (const changed of [
      { site_secret: 'another-secret-of-the-site' },
      { site_secret: 'another-secret-of-the-site', ...previous },
      { status: 'pending' },
    ]) {
      await writeSites(data, [{ ...site, ...changed }, late]);
      await running.service.poll();
      expect((await look('/portal')).status).toBe(303);
      // The secret before opens feeds for a while, and no page.
      expect((await signIn(site)).status).not.toBe(303);
    }
    await writeSites(data, [site, late]);
    await running.service.poll();
    expect((await look('/portal')).status).toBe(200);
  });

  test('is refused with the reason, and slowed down for those who guess; no secret is logged', async () => {
    const page = await (await signIn({ ...site, site_secret: 'guessed-secret' })).text();
    expect(page).toContain('no site has this site_key and site_secret');
    expect(page).toContain('value="own &lt;&quot;&amp;site"');
    expect((await signIn(late)).status).toBe(403);
    const statuses = await Promise.all(
      Array.from({ length: 61 }, async () => (await signIn({ ...site, site_secret: 'guessed-secret' })).status),
    );
    expect(new Set(statuses)).toEqual(new Set([401, 429]));
    expect((await signIn(site)).status).toBe(303);
    const lines = JSON.stringify(running.log);
    for (const secret of [site.site_secret, 'guessed-secret', cookie.slice(-43), 'kept'])
      expect(lines).not.toContain(secret);
  });
});

describe('an order', () => {
  const path = '/portal/postbacks/w1/resend';

  test('is carried out for the site that is signed in', async () => {
    const store = SqliteStore.open(data);
    await store.revive({ state: 'pending' }, now + 3_600_000);
    await store.close();
    const answer = await post(path, { attempts: '0' }, { cookie });
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain('Ordered: postback <code>w1</code> is pending');
    expect(await (await post(path, { attempts: '0' }, { cookie })).text()).toContain('Nothing new was ordered');
    expect((await post('/portal/postbacks/other/resend', {}, { cookie })).status).toBe(404);
    // Refused before it is sent: to a private address.
    expect(await (await post('/portal/test', {}, { cookie })).text()).toContain(
      'did not take the test: refused_address',
    );
  });

  test('that knows of fewer attempts than there were gets a button that names them', async () => {
    const store = SqliteStore.open(data);
    store.database.prepare(`UPDATE postbacks SET state = 'delivered', attempts = 1, next_attempt_at = NULL`).run();
    await store.close();
    const answerTo = async (attempts: string) => {
      const page = await (await post(path, { attempts }, { cookie })).text();
      return [/(Nothing new was o|O)rdered/.exec(page)?.[0], /name="attempts" value="(\d+)"/.exec(page)?.[1]];
    };
    expect(await answerTo('0')).toEqual(['Nothing new was ordered', '1']);
    expect(await answerTo('1')).toEqual(['Ordered', undefined]);
    expect(await answerTo('1')).toEqual(['Nothing new was ordered', undefined]);
  });

  test.each([
    ['another site’s page', { origin: 'https://elsewhere.example' }],
    ['another site’s page, as browsers say it', { 'sec-fetch-site': 'cross-site' }],
    ['a program', { origin: '' }],
  ])('of %s is refused, as a sign-in is', async (_who, headers) => {
    for (const asked of [post(path, {}, { cookie, ...headers }), signIn(site, headers)]) {
      const answer = await asked;
      expect([answer.status, answer.headers.get('set-cookie')]).toEqual([400, null]);
    }
  });

  test('is no reading: GET is refused, and pages are no orders', async () => {
    for (const order of [path, '/portal/test', '/portal/sign-out']) {
      const answer = await look(order);
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
    }
    expect((await post('/portal/feed', {}, { cookie })).status).toBe(405);
    expect((await post(path, {}, {})).headers.get('location')).toBe('/portal/sign-in');
    expect(existsSync(data.deliveriesFile)).toBe(true);
  });
});

test('pages and orders have their limits', async () => {
  now += 3_600_000;
  cookie = cookieOf(await signIn(site));
  for (let order = 0; order < 60; order++) await post('/portal/postbacks/w1/resend', { attempts: 'x' }, { cookie });
  const refused = await post('/portal/test', {}, { cookie });
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '3600']);
  expect((await look('/portal')).status).toBe(200);
});
