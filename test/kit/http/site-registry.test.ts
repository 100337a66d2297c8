import { rm, writeFile } from 'node:fs/promises';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import type { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { feedOffer, makeCurrent, temporaryData, writeSites, writeSnapshot } from '../../support/published-snapshot.ts';
import { serviceForTest } from '../../support/running-service.ts';

let data: DataDirectory;
const secret = 'secret-of-the-first-site';
const path = `/c/api/v1/offers?site_key=first&site_secret=${secret}`;

beforeEach(async () => {
  const temporary = await temporaryData();
  data = temporary.data;
  onTestFinished(temporary.remove);
  await writeSites(data, [{ site_key: 'first', site_secret: secret, commission: 0.5 }]);
  await writeSnapshot(data, 'one', {
    offers: [feedOffer({ id: 1, payout: '2' })],
    sites: [{ site_key: 'first', commission: '0.25', commission_changed_at: null }],
  });
  await makeCurrent(data, 'one');
});

test('a changed secret, status and limit are taken up while the service runs', async () => {
  const running = await serviceForTest(data);
  expect((await running.get(path)).status).toBe(200);
  await writeSites(data, [{ site_key: 'first', site_secret: 'quite-another-secret', rate_limit_per_hour: 7 }]);
  await running.service.poll();
  expect((await running.get(path)).status).toBe(401);
  expect(await running.json('/c/api/v1/status?site_key=first&site_secret=quite-another-secret')).toMatchObject({
    data: { rate_limit_per_hour: 7 },
  });
  await writeSites(data, [{ site_key: 'first', site_secret: secret, status: 'pending' }]);
  await running.service.poll();
  expect((await running.get(path)).status).toBe(403);
});

test('after a rotation both secrets open the feed until the end of the one before, of this site alone', async () => {
  let now = Date.UTC(2026, 10, 20, 12);
  const running = await serviceForTest(data, {}, () => now);
  const rotated = { site_key: 'first', site_secret: 'the-new-secret-of-the-site', previous_site_secret: secret };
  await writeSites(data, [
    { ...rotated, previous_secret_until: '2026-11-20T13:00:00Z' },
    { site_key: 'second', site_secret: 'secret-of-the-second-one' },
  ]);
  await running.service.poll();
  const withNew = path.replace(secret, rotated.site_secret);
  const statuses = async (...paths: string[]) =>
    Promise.all(paths.map(async (each) => (await running.get(each)).status));
  expect(await statuses(path, withNew, path.replace('first', 'second'))).toEqual([200, 200, 401]);
  now += 3_600_000;
  expect(await statuses(path, withNew)).toEqual([401, 200]);
  // Without an end it only signs.
  await writeSites(data, [rotated]);
  await running.service.poll();
  expect(await statuses(path, withNew)).toEqual([401, 200]);
});

test.each(['A', 'B', 'C'])('a paused site of variant %s hears why its feed is closed', async (variant) => {
  await writeSites(data, [{ site_key: 'first', site_secret: secret, variant, status: 'paused' }]);
  const running = await serviceForTest(data);
  const paths = {
    A: '/a/api/offers?user_id=u&format=offerwall&site_key=first',
    B: path.replace('/c/', '/b/'),
    C: path,
  };
  const refused = await running.get(paths[variant as 'A']);
  expect([refused.status, await refused.text()]).toEqual([
    { A: 401, B: 202, C: 403 }[variant],
    expect.stringContaining('this site is paused; its feed opens again'),
  ]);
});

test('the commission of a feed comes with the snapshot', async () => {
  const running = await serviceForTest(data);
  expect(await running.json(path)).toMatchObject({ offers: [{ payout: 1.5 }] });
  await writeSites(data, [{ site_key: 'first', site_secret: secret, commission: 0.9 }]);
  await running.service.poll();
  expect(await running.json(path)).toMatchObject({ offers: [{ payout: 1.5 }] });
});

test('a site that the snapshot does not know follows sites.json', async () => {
  const running = await serviceForTest(data);
  const newcomer = { site_key: 'second', site_secret: 'secret-of-the-second-one' };
  const second = '/c/api/v1/offers?site_key=second&site_secret=secret-of-the-second-one';
  for (const [commission, payout] of [
    [0.1, 1.8],
    [0.2, 1.6],
    [0.1, 1.8],
  ]) {
    await writeSites(data, [{ ...newcomer, commission, name: `at ${commission}` }]);
    await running.service.poll();
    expect(await running.json(second)).toMatchObject({ offers: [{ payout }] });
  }
});

test.each<[string, (file: string) => Promise<void>]>([
  ['torn', (file) => writeFile(file, `{"sites":[{"site_key":"first","site_secret":"${secret}"`)],
  [
    'wrong',
    (file) =>
      writeFile(file, JSON.stringify({ sites: [{ site_key: 'first', site_secret: secret, status: 'sleeping' }] })),
  ],
  ['gone', (file) => rm(file)],
])(
  'a file that is %s leaves the last good sites, and is said to be so once, without secrets',
  async (_what, damage) => {
    const running = await serviceForTest(data);
    await damage(data.sitesFile);
    await running.service.poll();
    await running.service.poll();
    expect((await running.get(path)).status).toBe(200);
    const complaints = running.log.filter(({ level }) => level >= 50);
    expect(complaints).toHaveLength(1);
    expect(complaints[0]?.msg).toContain('sites.json');
    expect(JSON.stringify(running.log)).not.toContain(secret);
  },
);

test('a broken file at the start is refused: there is nothing good to go on with', async () => {
  await writeFile(data.sitesFile, '{"sites":');
  await expect(serviceForTest(data)).rejects.toThrow(/sites\.json is not valid JSON/);
});
