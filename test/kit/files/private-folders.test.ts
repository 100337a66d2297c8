import { existsSync, statSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { exitCode } from '../../../src/kit/errors/errors.ts';
import { realEffects } from '../../../src/kit/files/effects.ts';
import { SqliteStore } from '../../../src/postbacks/store/sqlite-store.ts';
import { RequestLimits } from '../../../src/serve/access/limits.ts';
import { acquireWriterLock } from '../../../src/pipeline/runs/lock.ts';
import { writeHeldLease } from '../../../src/pipeline/runs/held-lease.ts';
import { RoleNote } from '../../../src/pipeline/runs/storage-role.ts';
import { endOf } from '../../support/commands.ts';

let data: DataDirectory;
beforeEach(async () => {
  data = new DataDirectory(join(await mkdtemp(join(tmpdir(), 'offerline-')), 'data'));
});
afterEach(() => rm(join(data.root, '..'), { recursive: true }));

/** Creates the folders with data about people, as a refresh, a delivery and the service do first. */
async function useAll(): Promise<void> {
  const before = process.umask(0);
  try {
    (await acquireWriterLock(data, { command: 'test', waitSeconds: 0, onWaiting: () => undefined })).release();
    await SqliteStore.open(data).close();
    RequestLimits.embedded(data, 0, pino({ level: 'silent' })).close();
  } finally {
    process.umask(before);
  }
}

const modes = async () =>
  Promise.all(
    [data.root, data.warehouse, data.postbacks, data.serve, data.rateLimits].map(
      async (path) => (await stat(path)).mode & 0o777,
    ),
  );

it('restricts data about people to the owner, whatever the umask, and nothing else', async () => {
  await useAll();
  expect(await modes()).toEqual([0o777, 0o700, 0o700, 0o700, 0o700]);
});

it.for([
  ['run', 'refresh'],
  ['run', 'ingest'],
  ['run', 'maintenance'],
  ['backfill', 'reports', '--all'],
  ['doctor'],
  ['rebuild'],
  ['offers', 'held'],
  ['postbacks', 'deliver'],
  ['sources', 'pull'],
  ['sources', 'list'],
  ['console', 'add', 'anna', '--role', 'viewer'],
  ['pictures'],
  ['status'],
])('is so whichever command comes first: %s %s', async (words) => {
  await mkdir(data.landing, { recursive: true });
  const before = process.umask(0);
  try {
    await endOf(data.root, ...words);
  } finally {
    process.umask(before);
  }
  const made = data.privateFolders.filter((folder) => existsSync(folder));
  expect(made.map((folder) => [folder, statSync(folder).mode & 0o777])).toEqual(made.map((folder) => [folder, 0o700]));
});

it('is so where the schedule of several machines comes first', async () => {
  const before = process.umask(0);
  try {
    await mkdir(data.root, { recursive: true });
    const storage = { url: 's3://bucket/network', endpoint: 'http://127.0.0.1:1', access_key_id: 'id' };
    await writeFile(
      data.settingsFile,
      JSON.stringify({ storage: { ...storage, secret_access_key: { env: 'NOT_THERE_AT_ALL' } } }),
    );
    expect((await endOf(data.root, 'schedule')).code).toBe(exitCode.usage);
    const { logger, effects } = { logger: pino({ level: 'silent' }), effects: realEffects };
    await new RoleNote(data.followingRoleFile, storage.url, { logger, effects }).report({ role: 'follows' });
  } finally {
    process.umask(before);
  }
  expect([data.warehouse, data.serve].map((folder) => statSync(folder).mode & 0o777)).toEqual([0o700, 0o700]);
});

it('is so where the schedule of several machines writes its lease first', async () => {
  const before = process.umask(0);
  try {
    await writeHeldLease(data, { epoch: 1, until: { steady: 0, wall: 0 } }, realEffects);
  } finally {
    process.umask(before);
  }
  expect(statSync(data.warehouse).mode & 0o777).toBe(0o700);
});

it('leaves folders that are there as open as they are', async () => {
  for (const folder of [data.warehouse, data.postbacks, data.serve, data.rateLimits]) {
    await mkdir(folder, { recursive: true });
    await chmod(folder, 0o750);
  }
  await useAll();
  expect((await modes()).slice(1)).toEqual([0o750, 0o750, 0o750, 0o750]);
});
