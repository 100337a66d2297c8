import { copyFile, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { clickIdOf, route, secret, TrackerUnderTest } from './tracker-under-test.ts';

it('another machine with the same landing folder and keys goes on where one has ended', async () => {
  const token = 'a-token-of-the-source-0123456789';
  const setUp = {
    routes: [route({ offer_id: 1, daily_click_cap: 2 })],
    sites: [{ site_key: 'one', site_secret: secret }],
    sources: [{ source: 'north', postback: { token } }],
  };
  const report = async (test: TrackerUnderTest, clickId: string) => {
    const { body } = await test.ask(`/postback/north?token=${token}&click_id=${clickId}`);
    return (JSON.parse(body) as { status?: string; error?: string }).status;
  };
  await using first = await TrackerUnderTest.start(setUp);
  const [one, two] = [clickIdOf(await first.click(1, 'u1')), clickIdOf(await first.click(1, 'u2'))];
  expect(await report(first, one)).toBe('recorded');
  await first.stop();

  const data = new DataDirectory(await mkdtemp(join(tmpdir(), 'offerline-tracker-')));
  onTestFinished(() => rm(data.root, { recursive: true }));
  await symlink(first.data.landing, data.landing);
  await mkdir(data.tracker);
  await copyFile(first.data.clickKeysFile, data.clickKeysFile);
  await using second = await TrackerUnderTest.start({ ...setUp, data });
  expect((await second.click(1, 'u3')).status).toBe(403);
  expect([await report(second, one), await report(second, two)]).toEqual(['duplicate', 'recorded']);
  await second.stop();
  expect([first.rows('clicks').length, first.rows('conversions').length]).toEqual([2, 2]);
});
