import { expect, it } from 'vitest';
import { clickIdOf, chrome, route, TrackerUnderTest } from '../tracker-under-test.ts';
import { failure, FailingDisk } from './failing-disk.ts';

const token = 'a-token-of-the-source-0123456789';
const sources = [{ source: 'north', postback: { token } }];
const report = (clickId: string) => `/postback/north?token=${token}&click_id=${clickId}&status=approved`;

it.each([
  ['what the settings do not say', {}, true],
  ['power', { tracker: { durability: 'power' } }, true],
  ['process', { tracker: { durability: 'process' } }, false],
])('durability "%s": whether answers wait until their rows are on the disk', async (_name, settings, isForced) => {
  await using disk = new FailingDisk();
  await using test = await TrackerUnderTest.start({
    routes: [route({ offer_id: 1 })],
    sources,
    settings,
    files: disk.files,
  });
  expect((await test.ask(report(clickIdOf(await test.click(1, 'u'))))).status).toBe(200);
  expect(disk.forced).toEqual({ 'log of clicks: opened': isForced, 'log of conversions: opened': isForced });
});

it('a click that found no room is refused, took nothing of a cap, and the same one after it is the first', async () => {
  await using disk = new FailingDisk();
  await using test = await TrackerUnderTest.start({
    routes: [route({ offer_id: 1, daily_click_cap: 2 })],
    files: disk.files,
  });
  const before = await test.click(1, 'before');
  disk.writesFirst = 20;
  disk.before = (step) => {
    if (step === 'log of clicks: appended') throw failure('ENOSPC');
  };
  // A double tap, of which the second waits for the first.
  for (const { status, headers } of await Promise.all([test.click(1, 'u'), test.click(1, 'u')]))
    expect([status, headers.location, headers['retry-after']]).toEqual([503, undefined, '1']);
  disk.before = () => {};
  const after = await test.click(1, 'u');
  const again = await test.click(1, 'u');
  expect([before, after, again].map(({ status }) => status)).toEqual([302, 302, 302]);
  expect(clickIdOf(again)).toBe(clickIdOf(after));
  expect(await test.outcome('/redirect/manual-offer/1/user/v/site/one')).toBe('403 daily_click_cap');
  await test.stop();
  expect(test.rows().map(({ click_id }) => click_id)).toEqual([before, after].map(clickIdOf));
  expect(test.ended).toBe(0);
});

it('a conversion that found no room is refused, and recorded when it is sent again', async () => {
  await using disk = new FailingDisk();
  await using test = await TrackerUnderTest.start({
    routes: [route({ offer_id: 1, daily_cap: 1 })],
    sources,
    files: disk.files,
  });
  const id = clickIdOf(await test.click(1, 'u'));
  disk.before = (step) => {
    if (step === 'log of conversions: appended') throw failure('ENOSPC');
  };
  for (const { status, body } of await Promise.all([test.ask(report(id)), test.ask(report(id))]))
    expect([status, JSON.parse(body)]).toMatchObject([503, { error: 'not_recorded' }]);
  // Nor has it filled the cap.
  expect((await test.click(1, 'v')).status).toBe(302);
  disk.before = () => {};
  const sent = [await test.ask(report(id)), await test.ask(report(id))];
  expect(sent.map(({ body }) => JSON.parse(body) as unknown)).toMatchObject([
    { status: 'recorded' },
    { status: 'duplicate' },
  ]);
  await test.stop();
  expect(test.rows('conversions')).toHaveLength(1);
});

it.each([
  ['power', 'appended', 'as it forces a row to the disk'],
  ['process', 'synced', 'as it forces the last second to the disk'],
] as const)('in mode "%s" a disk that fails at "%s", %s, ends the tracker', async (durability, fails, _when) => {
  await using disk = new FailingDisk();
  await using test = await TrackerUnderTest.start({
    routes: [route({ offer_id: 1 })],
    settings: { tracker: { durability } },
    files: disk.files,
  });
  expect((await test.click(1, 'before')).status).toBe(302);
  disk.before = (step) => {
    if (step === `log of clicks: ${fails}`) throw failure('EIO');
  };
  const gone = new AbortController();
  const answered: number[] = [];
  const asked: Promise<unknown>[] = [];
  if (fails === 'appended') {
    const link = `${test.address}/redirect/manual-offer/1/user/during/site/one`;
    const headers = { 'user-agent': chrome };
    const answer = fetch(link, { headers, redirect: 'manual', signal: gone.signal });
    asked.push(answer.then(({ status }) => answered.push(status)));
  } else {
    test.now += 1000;
    await test.tracker.tick().catch(() => undefined);
  }
  expect(await test.comesTo(() => test.ended > 0)).toBe(true);
  expect(test.logged.join('')).toContain('write failed after data was handed to the disk');
  // Only the next start finds whether the row is there, so there is no answer here; and nothing more is taken.
  expect((await test.ask('/readyz')).status).toBe(503);
  expect(await test.outcome('/redirect/manual-offer/1/user/after/site/one')).toBe('503 not_recorded');
  expect([test.ended, answered]).toEqual([1, []]);
  gone.abort();
  await Promise.allSettled(asked);
});
