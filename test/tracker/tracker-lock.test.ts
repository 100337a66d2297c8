import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { acquireTrackerLock } from '../../src/tracker/tracker-lock.ts';

const isRoot = process.getuid?.() === 0;
let data: DataDirectory;
const lock = () => acquireTrackerLock(data, { command: 'track', waitSeconds: 0, onWaiting: () => {} });

beforeEach(() => {
  data = new DataDirectory(mkdtempSync(join(tmpdir(), 'offerline-lock-')));
  onTestFinished(() => rmSync(data.root, { recursive: true }));
});

it('is free again once it is released', async () => {
  (await lock()).release();
  (await lock()).release();
});

it('of the landing folder follows nothing that others have put there', async () => {
  const sites = '{"sites": []}';
  writeFileSync(data.sitesFile, sites);
  mkdirSync(data.landing);
  mkdirSync(join(data.root, 'theirs'));
  symlinkSync('../../sites.json', join(data.root, 'theirs', 'tracker.lock'));
  symlinkSync('../theirs', data.landingLocks);
  await expect(lock()).rejects.toThrow("is no folder of the tracker's own user");
  rmSync(data.landingLocks);
  writeFileSync(data.landingLocks, '');
  await expect(lock()).rejects.toThrow(data.landingLocks);
  rmSync(data.landingLocks);
  (await lock()).release();
  expect(readFileSync(data.sitesFile, 'utf8')).toBe(sites);
});

it.runIf(isRoot)('of the landing folder is not taken in a folder that another user has made (as root)', async () => {
  mkdirSync(data.landingLocks, { recursive: true });
  chownSync(data.landingLocks, 65_534, 65_534);
  await expect(lock()).rejects.toThrow("is no folder of the tracker's own user");
  // That of who owns the data directory is ours, too: a command may be run as root.
  chownSync(data.root, 65_534, 65_534);
  (await lock()).release();
});

it('says which landing folder cannot be used', async () => {
  writeFileSync(data.landing, '');
  await expect(lock()).rejects.toThrow(data.landing);
});

// Root may write to any file, so for root nothing is refused.
it.skipIf(isRoot)('is none where its file may only be read (not as root)', async () => {
  (await lock()).release();
  chmodSync(data.trackerLockFile, 0o444);
  await expect(lock()).rejects.toThrow('permission denied');
});
