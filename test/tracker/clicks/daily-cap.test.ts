import { expect, it } from 'vitest';
import { clickIdOf, route, TrackerUnderTest } from '../tracker-under-test.ts';

const token = 'a-token-of-the-source-0123456789';
const midnight = Date.UTC(2026, 10, 21);

async function capped(daily_cap: number) {
  const test = await TrackerUnderTest.start({
    routes: [route({ offer_id: 1, daily_cap })],
    sources: [{ source: 'north', postback: { token } }],
    settings: { trusted_proxies: ['127.0.0.1'] },
  });
  let user = 0;
  return {
    test,
    /** A click of another user from another address. */
    click() {
      const number = ++user;
      return test.click(1, `u${number}`, { 'x-forwarded-for': `198.51.${number >> 8}.${number & 255}` });
    },
    async report(clickId: string, status = 'approved') {
      return (await test.ask(`/postback/north?token=${token}&click_id=${clickId}&status=${status}`)).status;
    },
    [Symbol.asyncDispose]: () => test[Symbol.asyncDispose](),
  };
}

it('the cap of a day opens at midnight UTC, and is filled by what comes from then on', async () => {
  await using network = await capped(1);
  const { test } = network;
  const status = async () => (await network.click()).status;
  test.now = midnight - 60_000;
  const [first, second] = [clickIdOf(await network.click()), clickIdOf(await network.click())];
  expect([await network.report(first), await status()]).toEqual([200, 403]);
  test.now = midnight - 1;
  expect(await status()).toBe(403);
  test.now = midnight;
  expect(await status()).toBe(302);
  // A clock that is set back finds the day as it was.
  test.now = midnight - 60_000;
  expect(await status()).toBe(403);
  test.now = midnight + 1;
  expect(await status()).toBe(302);
  await test.restart();
  expect(await status()).toBe(302);
  // The day of a conversion counts, not that of its click; nor does it undo what was credited the day before.
  expect([await network.report(second), await status()]).toEqual([200, 403]);
  expect([await network.report(first, 'rejected'), await status()]).toEqual([200, 403]);
  await test.restart();
  expect(await status()).toBe(403);
  // What was undone after midnight was credited before it.
  test.now = midnight - 1;
  expect(await status()).toBe(403);
  test.now = midnight + 86_400_000;
  expect(await status()).toBe(302);
});

it('a cap that is reached stays so where the clock is ahead for a moment', async () => {
  await using network = await capped(1);
  const { test } = network;
  test.now = midnight;
  const first = clickIdOf(await network.click());
  expect(await network.report(first)).toBe(200);
  test.now = midnight + 30 * 86_400_000;
  expect((await network.click()).status).toBe(302);
  test.now = midnight + 1;
  expect((await network.click()).status).toBe(403);
});

it('of many conversions at once one takes the last place of a cap, and the others are over it', async () => {
  await using network = await capped(2);
  const ids = (await Promise.all(Array.from({ length: 301 }, () => network.click()))).map(clickIdOf);
  expect(await network.report(ids[0] as string)).toBe(200);
  expect((await network.click()).status).toBe(302);
  const reported = await Promise.all(ids.slice(1).map((id) => network.report(id)));
  const clicked = await Promise.all(Array.from({ length: 50 }, () => network.click()));
  expect(new Set(reported)).toEqual(new Set([200]));
  expect(await network.test.metric('offerline_tracker_over_cap_total')).toBe(299);
  expect(new Set(clicked.map(({ status }) => status))).toEqual(new Set([403]));
  await network.test.restart();
  expect((await network.click()).status).toBe(403);
  await network.test.stop();
  expect(network.test.rows('conversions')).toHaveLength(301);
});
