import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { realEffects, type Effects } from '../../../src/kit/files/effects.ts';
import { defaultSettings } from '../../../src/kit/config/settings.ts';
import { readReplayKey } from '../../../src/tracker/conversions/replay-key.ts';
import { recordTrackerAddress, trackerAddress } from '../../../src/tracker/tracker-address.ts';
import { clickIdOf, route, TrackerUnderTest } from '../tracker-under-test.ts';
import { failure } from './failing-disk.ts';

const token = 'a-token-of-the-source-0123456789';
const sources = [{ source: 'north', postback: { token, once_per_user: true } }];
const report = (clickId: string) => `/postback/north?token=${token}&click_id=${clickId}&status=approved`;

/** A disk that has room until the test says otherwise. */
class FillingDisk {
  isFull = false;

  get files(): Partial<Effects['files']> {
    const refuse = () => {
      if (this.isFull) throw failure('ENOSPC');
    };
    return {
      async writeFile(...written) {
        refuse();
        await realEffects.files.writeFile(...written);
      },
      freeBytes: async () => (this.isFull ? 0 : 2 ** 40),
    };
  }
}

it('a tracker that starts on a full disk answers 503, and tracks once there is room', async () => {
  const disk = new FillingDisk();
  await using test = await TrackerUnderTest.start({ routes: [route({ offer_id: 1 })], sources, files: disk.files });
  const before = clickIdOf(await test.click(1, 'anna'));
  expect((await test.ask(report(before))).status).toBe(200);
  const earlier = readReplayKey(test.data);
  await test.stop();

  disk.isFull = true;
  await test.restart();
  expect([(await test.click(1, 'bert')).status, (await test.ask('/readyz')).status]).toEqual([503, 503]);
  expect((await test.ask('/healthz')).status).toBe(200);
  expect(test.logged.join('')).toContain('refuses `track replay` until it is started again');
  expect(readReplayKey(test.data)).toBe(earlier);

  disk.isFull = false;
  test.elapse(1000);
  expect(await test.comesTo(async () => (await test.ask('/readyz')).status === 200)).toBe(true);
  expect((await test.ask(report(clickIdOf(await test.click(1, 'anna'))))).status).toBe(409);
  expect((await test.ask(report(clickIdOf(await test.click(1, 'bert'))))).status).toBe(200);
  // Both are in the file that could not be written anew at the start.
  const lines = readFileSync(test.data.completionsFile, 'utf8').split('\n').filter(Boolean);
  expect(lines.map((line) => (JSON.parse(line) as { is_recorded?: true }).is_recorded)).toEqual([
    true,
    undefined,
    true,
  ]);
  await test.restart();
  expect((await test.ask(report(clickIdOf(await test.click(1, 'bert'))))).status).toBe(409);
});

it('a tracker whose first start finds no room for its keys does not go on', async () => {
  const disk = new FillingDisk();
  disk.isFull = true;
  await expect(TrackerUnderTest.start({ files: disk.files })).rejects.toThrow('ENOSPC');
});

it('an address that the disk does not take leaves none of an earlier tracker behind', async () => {
  await using test = await TrackerUnderTest.start();
  let logged = '';
  const log = createLogger({ write: (line) => (logged += line) });
  await recordTrackerAddress(test.data, 'http://127.0.0.1:9001', log);
  const addressNow = () => trackerAddress(test.data, defaultSettings.tracker, {});
  expect(addressNow()).toBe('http://127.0.0.1:9001');
  const refusing = (code: string): Effects['files'] => ({
    ...realEffects.files,
    writeFile: () => Promise.reject(failure(code)),
  });
  await expect(recordTrackerAddress(test.data, test.address, log, refusing('EACCES'))).rejects.toThrow('EACCES');
  for (const code of ['ENOSPC', 'EROFS']) await recordTrackerAddress(test.data, test.address, log, refusing(code));
  expect(addressNow()).toBe('http://127.0.0.1:8082');
  expect(logged.match(/could not be recorded/g)).toHaveLength(2);
});
