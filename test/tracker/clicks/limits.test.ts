import { expect, it } from 'vitest';
import { clickIdOf, route, secret, start, TrackerUnderTest, type Answer } from '../tracker-under-test.ts';
import { slow } from '../../support/slow.ts';

const statuses = (answers: Answer[]) => Object.groupBy(answers, ({ status }) => status);

/** Clicks from addresses that a trusted proxy names, so that no flood is seen. */
const proxied = { trusted_proxies: ['127.0.0.1'] };
const from = (number: number) => ({ 'x-forwarded-for': `198.51.${number >> 8}.${number & 255}` });

it('the same click within five seconds is the first one, also while that is on its way', async () => {
  await using test = await TrackerUnderTest.start({ routes: [route({ offer_id: 1 })] });
  const together = await Promise.all(Array.from({ length: 20 }, () => test.click(1, 'ann')));
  test.now = start + 4999;
  const answers = [...together, await test.click(1, 'ann')];
  expect(new Set(answers.map(clickIdOf)).size).toBe(1);
  const others = [
    await test.click(1, 'bob'),
    await test.click(1, 'ann', { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Firefox/130.0' }),
  ];
  test.now = start + 5000;
  others.push(await test.click(1, 'ann'));
  expect(new Set([...answers, ...others].map(clickIdOf)).size).toBe(4);
  await test.stop();
  expect(test.rows()).toHaveLength(4);
});

it('more than 60 clicks a minute of one site and address are too many, those of others are not', async () => {
  await using test = await TrackerUnderTest.start({
    routes: [route({ offer_id: 1 })],
    settings: proxied,
    sites: ['one', 'two'].map((site_key) => ({ site_key, site_secret: secret })),
  });
  const click = (user: string, address: string, site = 'one') =>
    test.ask(`/redirect/manual-offer/1/user/${user}/site/${site}`, { 'x-forwarded-for': address });
  const flood = await Promise.all(Array.from({ length: 70 }, (_, n) => click(`u${n}`, '2001:db8:1:2::1')));
  expect(statuses(flood)[302]).toHaveLength(60);
  expect(statuses(flood)[429]?.[0]?.headers['retry-after']).toBe('60');
  expect((await click('next', '2001:db8:1:2:ffff::9')).status).toBe(429);
  expect((await click('next', '2001:db8:1:3::1')).status).toBe(302);
  expect((await click('next', '2001:db8:1:2::1', 'two')).status).toBe(302);
  test.now = start + 60_000;
  expect((await click('later', '2001:db8:1:2::1')).status).toBe(302);
});

it('X-Forwarded-For counts behind trusted proxies only, and of the address a network is kept', async () => {
  const rowsOf = async (settings: object) => {
    await using test = await TrackerUnderTest.start({ routes: [route({ offer_id: 1 })], settings });
    await test.click(1, 'u', { 'x-forwarded-for': '203.0.113.77' });
    await test.click(1, 'v', { 'x-forwarded-for': '1.1.1.1, 2001:db8:aa:bb::cc' });
    await test.stop();
    return test.rows().map(({ ip }) => ip);
  };
  expect(await rowsOf({})).toEqual(['127.0.0.0', '127.0.0.0']);
  expect(await rowsOf(proxied)).toEqual(['203.0.113.0', '2001:db8:aa::']);
  expect(await rowsOf({ ...proxied, tracker: { ip: 'full' } })).toEqual(['203.0.113.77', '2001:db8:aa:bb::cc']);
  expect(await rowsOf({ ...proxied, tracker: { ip: 'none' } })).toEqual([undefined, undefined]);
});

it('of 1,000 parallel clicks at one below the cap one passes', slow, async () => {
  await using test = await TrackerUnderTest.start({
    routes: [route({ offer_id: 1, daily_click_cap: 2 })],
    settings: proxied,
  });
  expect((await test.click(1, 'first', from(9999))).status).toBe(302);
  const answers = await Promise.all(Array.from({ length: 1000 }, (_, n) => test.click(1, `u${n}`, from(n))));
  expect(statuses(answers)[302]).toHaveLength(1);
  expect(statuses(answers)[403]).toHaveLength(999);
  await test.restart();
  expect((await test.click(1, 'after', from(8888))).status).toBe(403);
  await test.stop();
  expect(test.rows()).toHaveLength(2);
});

it('a cap holds for a UTC day, over a restart at any time of it and a clock that is set back', async () => {
  await using test = await TrackerUnderTest.start({
    routes: [route({ offer_id: 1, daily_click_cap: 2 })],
    settings: proxied,
  });
  let user = 0;
  const click = async () => (await test.click(1, `u${++user}`, from(user))).status;
  const midnight = Date.UTC(2026, 10, 21);
  test.now = midnight - 1;
  expect([await click(), await click(), await click()]).toEqual([302, 302, 403]);
  await test.restart();
  expect(await click()).toBe(403);
  test.now = midnight;
  expect(await click()).toBe(302);
  test.now = midnight - 3_600_000;
  expect(await click()).toBe(403);
  await test.restart();
  expect(await click()).toBe(403);
  test.now = midnight + 1;
  expect([await click(), await click()]).toEqual([302, 403]);
  await test.restart();
  expect(await click()).toBe(403);
  // Set back after a start that came after midnight.
  test.now = midnight - 1;
  expect(await click()).toBe(403);
  // Of three days each is known, whichever is asked about first.
  test.now = midnight + 86_400_000;
  expect([await click(), await click(), await click()]).toEqual([302, 302, 403]);
  test.now = midnight + 1;
  await test.restart();
  for (const now of [midnight + 86_400_000, midnight - 1, midnight + 86_400_000, midnight + 1]) {
    test.now = now;
    expect(await click()).toBe(403);
  }
  await test.stop();
  const days = Object.groupBy(test.rows(), ({ clicked_at }) => String(clicked_at).slice(0, 10));
  expect(Object.values(days).map((rows) => rows?.length)).toEqual([2, 2, 2]);
});

it('conversions fill the daily cap, milestones of a click once, until they are undone', async () => {
  const sources = [{ source: 'north', postback: { token: 'a-token-of-the-source-0123456789' } }];
  const events = [
    { event_id: 'install', payout: '1' },
    { event_id: 'level', payout: '2' },
    { event_id: 'purchase', payout: '3' },
  ];
  await using test = await TrackerUnderTest.start({
    routes: [route({ offer_id: 1, daily_cap: 1, events })],
    sources,
    settings: proxied,
  });
  const clicks: string[] = [];
  for (const user of [1, 2, 4]) clicks.push(clickIdOf(await test.click(1, `u${user}`, from(user))));
  const report = async (click: number, event: string, status = 'approved') => {
    const query = `token=a-token-of-the-source-0123456789&click_id=${clicks[click]}&event_id=${event}&status=${status}`;
    return (await test.ask(`/postback/north?${query}`)).status;
  };
  expect([await report(0, 'install'), await report(0, 'level')]).toEqual([200, 200]);
  expect(await test.outcome('/redirect/manual-offer/1/user/u3/site/one', from(3))).toBe('403 daily_cap');
  // The user did the work: recorded, and counted as over the cap.
  expect(await report(1, 'install')).toBe(200);
  expect(await test.metric('offerline_tracker_over_cap_total')).toBe(1);
  // A further milestone is no further click, and a credit that was undone before it came counts for nothing.
  expect(await report(0, 'purchase')).toBe(200);
  expect([await report(2, 'install', 'rejected'), await report(2, 'install')]).toEqual([200, 200]);
  expect(await test.metric('offerline_tracker_over_cap_total')).toBe(1);
  await test.restart();
  expect(await test.outcome('/redirect/manual-offer/1/user/u3/site/one', from(3))).toBe('403 daily_cap');
  for (const [click, event] of [
    [0, 'install'],
    [0, 'level'],
    [0, 'purchase'],
    [1, 'install'],
  ] as const)
    expect(await report(click, event, 'rejected')).toBe(200);
  expect(await test.outcome('/redirect/manual-offer/1/user/u3/site/one', from(3))).toBe('302');
});
