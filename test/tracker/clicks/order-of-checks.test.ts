import { expect, it } from 'vitest';
import { clickIdOf, route, secret, TrackerUnderTest } from '../tracker-under-test.ts';

const android7 = 'Mozilla/5.0 (Linux; Android 7.1; SM-J510) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/90.0 Mobile';
const set = {
  sites: [
    { site_key: 'one', site_secret: secret },
    { site_key: 'waiting', site_secret: secret, status: 'pending' },
    { site_key: 'choosy', site_secret: secret, offers: { deny: [{ source: 'north' }] } },
  ],
  routes: [
    route({ offer_id: 1 }),
    route({ offer_id: 2, status: 'paused' }),
    route({ offer_id: 3, destination_url: null }),
    route({ offer_id: 4, devices: ['ios'] }),
    route({ offer_id: 5, devices: ['android'], android_min_os: '8.0' }),
    route({ offer_id: 6, daily_click_cap: 0, daily_cap: 0 }),
    route({ offer_id: 7, daily_cap: 0 }),
    route({ offer_id: 8, destination_url: 'javascript:alert(1)' }),
  ],
};
const at = (offer: number | string, user = 'u', site = 'one', query = '') =>
  `/redirect/manual-offer/${offer}/user/${user}/site/${site}${query}`;
const prefetch = { 'sec-purpose': 'prefetch;prerender' };

it('each check answers before those after it', async () => {
  await using test = await TrackerUnderTest.start(set);
  const bad = '?sub1=a&sub1=b';
  const cases: [expected: string, path: string, headers?: Record<string, string>, method?: string][] = [
    ['405 wrong_method', at('x', '%00', 'none', bad), prefetch, 'POST'],
    ['414 too_long', `${at('x', '%00', 'none', bad)}&x=${'x'.repeat(8 * 1024)}`, prefetch],
    ['404 not_found', at('x', '%00', 'none', bad), prefetch],
    ['422 invalid_parameter', at(99, '%00', 'none', bad), prefetch],
    ['422 invalid_parameter', at(99, 'u', 'none', bad), prefetch],
    ['404 unknown_site', at(99, 'u', 'none'), prefetch],
    ['403 site_pending', at(99, 'u', 'waiting'), prefetch],
    ['404 unknown_offer', at(99), prefetch],
    ['404 unknown_offer', at(99, 'u', 'choosy')],
    ['403 not_offered', at(2, 'u', 'choosy'), prefetch],
    ['410 offer_gone', at(2), prefetch],
    ['410 offer_gone', at(3), prefetch],
    ['410 offer_gone', at(8), prefetch],
    ['503 prefetch', at(4), { ...prefetch, 'user-agent': 'Googlebot/2.1 (+http://www.google.com/bot.html)' }],
    ['204', at(4), { 'user-agent': 'Googlebot/2.1 (+http://www.google.com/bot.html)' }],
    ['204', at(4), {}, 'HEAD'],
    ['403 device', at(4)],
    ['403 os_version', at(5), { 'user-agent': android7 }],
    ['403 daily_click_cap', at(6)],
    ['403 daily_cap', at(7)],
    ['302', at(1)],
  ];
  for (const [expected, path, headers, method] of cases)
    expect([path.slice(0, 80), await test.outcome(path, headers, method)]).toEqual([path.slice(0, 80), expected]);
  await test.stop();
  expect(test.rows()).toHaveLength(1);
});

it('every answer of a link forbids to store it and to pass on where the user came from', async () => {
  await using test = await TrackerUnderTest.start(set);
  for (const offer of [1, 2, 4, 6, 99]) {
    const { headers } = await test.ask(at(offer));
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex',
    });
    expect(headers['set-cookie']).toBeUndefined();
  }
});

it.each([
  ['sec-purpose', 'prefetch'],
  ['purpose', 'prefetch'],
  ['x-purpose', 'preview'],
  ['x-moz', 'prefetch'],
])('%s: %s is no click', async (name, value) => {
  await using test = await TrackerUnderTest.start(set);
  expect(await test.outcome(at(1), { [name]: value })).toBe('503 prefetch');
});

it('a real click after a prefetch counts, and is a row with what is known of it', async () => {
  await using test = await TrackerUnderTest.start(set);
  await test.ask(at(1, 'ann%20%22%C3%BC'), prefetch);
  const answer = await test.ask(at(1, 'ann%20%22%C3%BC', 'one', '?sub1=a%22b&sub2=%F0%9F%90%B8&other=x'));
  expect(answer.status).toBe(302);
  await test.stop();
  expect(test.rows()).toEqual([
    {
      click_id: clickIdOf(answer),
      offer_id: 1,
      site_key: 'one',
      user_id: 'ann "ü',
      clicked_at: '2026-11-20T12:00:00.000Z',
      device: 'desktop',
      ip: '127.0.0.0',
      user_agent: expect.stringContaining('Chrome/130'),
      sub1: 'a"b',
      sub2: '🐸',
    },
  ]);
});

it('a refusal is short HTML for people and JSON for who asks for it', async () => {
  await using test = await TrackerUnderTest.start(set);
  const page = await test.ask(at(2));
  expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
  expect(page.body).toContain('<title>offer_gone</title>');
  const json = await test.ask(at(2), { accept: 'application/json' });
  expect(JSON.parse(json.body)).toEqual({ error: 'offer_gone', message: expect.any(String) });
});

it('refusals that are nobody’s mistake lead to the fallback of the site, else of the tracker', async () => {
  const settings = { tracker: { fallback_url: 'https://fall.example/{{reason}}/[offer_id]?x=1&amp;o=%7Boffer_id%7D' } };
  const sites = [
    set.sites[0] as object,
    { site_key: 'two', site_secret: secret, fallback_url: 'https://two.example/' },
    { site_key: 'four', site_secret: secret, fallback_url: 'https://four.example/', offers: { allow: [{ offer: 2 }] } },
    { site_key: 'three', site_secret: secret, fallback_url: 'https://例え.example/日本/{reason}?o={offer_id}' },
  ];
  await using test = await TrackerUnderTest.start({ ...set, settings, sites });
  const led = async (path: string) => {
    const { status, headers } = await test.ask(path);
    return `${status} ${headers.location ?? ''}`;
  };
  expect(await led(at(2))).toBe('302 https://fall.example/offer_gone/2?x=1&o=2');
  expect(await led(at(4))).toBe('302 https://fall.example/device/4?x=1&o=4');
  expect(await led(at(6))).toBe('302 https://fall.example/daily_click_cap/6?x=1&o=6');
  expect(await led(at(7, 'u', 'two'))).toBe('302 https://two.example/');
  // A header takes ASCII only.
  expect(await led(at(2, 'u', 'three'))).toBe('302 https://xn--r8jz45g.example/%E6%97%A5%E6%9C%AC/offer_gone?o=2');
  expect(await led(at(1, 'u', 'four'))).toBe('403 ');
  expect(await led(at(99))).toBe('404 ');
  expect(await led(at(1, 'u', 'none'))).toBe('404 ');
});
