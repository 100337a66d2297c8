import { cp, readdir, readlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { refresh } from '../../../pipelines/refresh.ts';
import { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { exitCode } from '../../../src/kit/errors/errors.ts';
import { storageSchema } from '../../../src/kit/config/storage-settings.ts';
import { realEffects } from '../../../src/kit/files/effects.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { noProgress } from '../../../src/kit/logging/progress.ts';
import { parseManifest } from '../../../src/pipeline/snapshot/manifest.ts';
import { readContent } from '../../../src/fleet/storage/contents.ts';
import { followStorage } from '../../../src/fleet/storage/follow.ts';
import { readPointer, successionOf, swapPointer, type Pointer } from '../../../src/fleet/storage/pointer.ts';
import { wallClock } from '../../fault/lives/growing-landing.ts';
import { publishedTables } from '../../fault/lives/published-tables.ts';
import { watchedEffects } from '../../fault/lives/watched-effects.ts';
import { offerline } from '../../support/command-line.ts';
import { command } from '../../support/commands.ts';
import { FaultyProxy } from '../../s3/store/faulty-proxy.ts';
import { Moto } from '../../s3/store/moto.ts';
import { Child } from './child.ts';
import { changeJson, Machines, storageAt } from './machines.ts';

const moto = await Moto.start();
await moto.createBucket();
afterAll(() => moto[Symbol.asyncDispose]());

const terminal = { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress };

let seed = 700;
let proxy: FaultyProxy;
let machines: Machines;
let writer: DataDirectory;
/** A machine that only serves, and reaches storage through the proxy. */
let follower: DataDirectory;

beforeEach(async () => {
  proxy = await FaultyProxy.before(moto.url);
  machines = await Machines.create(++seed, 6, [moto.url]);
  [writer] = machines.together as [DataDirectory];
  follower = new DataDirectory(join(writer.root, '..', 'follower'));
  await cp(writer.root, follower.root, { recursive: true });
  await changeJson(follower.settingsFile, { storage: { ...storageAt(seed, proxy.url), follow: true } });
  onTestFinished(async () => {
    await machines[Symbol.asyncDispose]();
    await proxy[Symbol.asyncDispose]();
  });
});

async function publish(round: number): Promise<string> {
  await machines.land(round);
  const asOf = machines.landing.asOf(round);
  const { snapshotId } = await refresh(
    { data: writer, terminal, asOf },
    watchedEffects(wallClock, () => undefined),
  );
  return snapshotId as string;
}

async function served(): Promise<{
  child: Child;
  ready: () => Promise<number>;
  id: () => Promise<string | undefined>;
}> {
  const child = Child.offerline(follower, ['serve', '--port', '0', '--json']);
  onTestFinished(() => child[Symbol.asyncDispose]());
  await child.tells(/"address": ?"http:[^"]+"/);
  const [, address] = /"address": ?"(http:[^"]+)"/.exec(child.told) as unknown as [string, string];
  return {
    child,
    ready: async () => (await fetch(`${address}/readyz`)).status,
    id: async () => ((await (await fetch(`${address}/readyz`)).json()) as { snapshot_id?: string }).snapshot_id,
  };
}

it('serves what storage has, serves on while it is away, says so once, and goes on by itself', async () => {
  const first = await publish(0);
  const { child, ready, id } = await served();
  await child.tells('serving snapshot|"snapshot_id":"' + first);
  expect(await id()).toBe(first);
  expect(await publishedTables(follower)).toEqual(await publishedTables(writer));

  proxy.fault = () => ({ cutAfter: 0 });
  await child.tells('what is here is served on');
  const second = await publish(1);
  // Some looks later it still has said it once, and serves.
  const looks = proxy.requests.length;
  while (proxy.requests.length < looks + 8) await setTimeout(100);
  expect(child.told.match(/what is here is served on/g)).toHaveLength(1);
  expect(child.told).not.toMatch(/secret\+key|"level":"error"/);
  expect(await ready()).toBe(200);
  expect(await id()).toBe(first);

  proxy.fault = () => undefined;
  await child.tells('storage is followed again');
  await child.tells(`"snapshot_id":"${second}"`);
  expect(await id()).toBe(second);
  child.kill('SIGTERM');
  expect(await child.ended).toBe(exitCode.done);

  // Begun anew without storage it serves what is here.
  proxy.fault = () => ({ silent: true });
  const again = await served();
  expect(await again.id()).toBe(second);
});

it('while storage is slow it serves what it has, and switches once the last file has come', async () => {
  const first = await publish(0);
  const { child, ready, id } = await served();
  await child.tells('serving snapshot|"snapshot_id":"' + first);
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  const { promise: late, resolve: comes } = Promise.withResolvers<void>();
  proxy.fault = async ({ path }) => {
    if (!path.includes('/content/')) return undefined;
    ask();
    await late;
    return undefined;
  };
  const second = await publish(1);
  await asked;
  expect(await ready()).toBe(200);
  expect(await id()).toBe(first);
  comes();
  await child.tells(`"snapshot_id":"${second}"`);
  expect(await id()).toBe(second);
  expect(child.told).not.toMatch(/"level":"error"/);
});

it('a snapshot that storage does not have whole is not served, and the next one is', async () => {
  const first = await publish(0);
  const { child, id } = await served();
  const second = await publish(1);
  await child.tells(`"snapshot_id":"${second}"`);
  // The next pointer names a content that nobody wrote.
  const { pointer, etag } = (await readPointer(machines.store)) as { pointer: Pointer; etag: string };
  const [newest] = pointer.snapshots as [Pointer['snapshots'][number]];
  const nobodys = {
    ...newest,
    snapshot_id: '00000009-20260310T000000Z',
    manifest: { sha256: '0'.repeat(64), bytes: 9 },
  };
  await swapPointer(
    machines.store,
    { pointer, etag },
    { ...pointer, ...successionOf(pointer), swap: 'x', snapshots: [nobodys] },
  );
  await child.tells('what is here is served on: .*HTTP 404');
  expect(await id()).toBe(second);
  expect(await readdir(follower.published)).toContain(second);
  expect(first).not.toBe(second);
  const found = (await readPointer(machines.store)) as { pointer: Pointer; etag: string };
  await swapPointer(machines.store, found, { ...pointer, ...successionOf(found.pointer), swap: 'y' });
  await child.tells('storage is followed again');
});

it('a snapshot that is changed under way is not served, and comes with the next look', async () => {
  const first = await publish(0);
  const { child, id } = await served();
  expect(await id()).toBe(first);
  proxy.fault = ({ path }) => (path.includes('/content/') ? { changed: true } : undefined);
  const second = await publish(1);
  await child.tells('does not have the bytes of its name');
  expect(await id()).toBe(first);
  proxy.fault = () => undefined;
  await child.tells(`"snapshot_id":"${second}"`);
  expect((await readdir(follower.published)).filter((name) => name.startsWith('.'))).toEqual([]);
});

it('killed while it fetches it leaves nothing for ever, and shares what it has already', async () => {
  const first = await publish(0);
  const { child } = await served();
  await child.tells(first);
  const {
    pointer: { snapshots },
  } = (await readPointer(machines.store)) as { pointer: Pointer };
  let contents = 0;
  proxy.fault = ({ path }) => (path.includes('/content/') && ++contents > 3 ? { silent: true } : undefined);
  await publish(1);
  while (!(await readdir(follower.published)).some((name) => name.endsWith('.part'))) await setTimeout(50);
  child.kill('SIGKILL');
  await child.ended;
  proxy.fault = () => undefined;
  proxy.requests.length = 0;
  const third = await publish(2);
  const again = await served();
  await again.child.tells(`"snapshot_id":"${third}"`);
  expect(await readlink(follower.current)).toBe(third);
  expect((await readdir(follower.published)).filter((name) => name.startsWith('.'))).toEqual([]);
  const before = parseManifest((await readContent(machines.store, snapshots[0]?.manifest as never)).toString());
  const fetched = proxy.requests.map(({ path }) => path);
  const shared = Object.values(before.files).filter(({ sha256 }) => fetched.some((path) => path.includes(sha256)));
  expect(shared).toEqual([]);
});

it('leaves a snapshot that somebody holds open, and its own where storage has none', async () => {
  const first = await publish(0);
  const { child } = await served();
  await child.tells(first);
  const instance = await DuckDBInstance.create(join(follower.published, first, 'analytics.duckdb'), {
    access_mode: 'READ_ONLY',
  });
  await publish(1);
  await publish(2);
  const last = await publish(3);
  await child.tells(`"snapshot_id":"${last}"`);
  expect(await readdir(follower.published)).toContain(first);
  instance.closeSync();
  // Somebody made the network anew.
  const found = (await readPointer(machines.store)) as { pointer: Pointer; etag: string };
  await swapPointer(machines.store, found, {
    ...found.pointer,
    ...successionOf(found.pointer),
    swap: 'z',
    snapshots: [],
    state: null,
  });
  const looks = proxy.requests.length;
  while (proxy.requests.length < looks + 3) await setTimeout(100);
  expect(await readlink(follower.current)).toBe(last);
});

it('writes nothing: runs, schedules and repairs are refused in plain words', async () => {
  await publish(0);
  for (const words of [
    ['run', 'refresh'],
    ['run', 'maintenance'],
    ['schedule'],
    ['start', '--port', '0'],
    ['rebuild'],
    ['doctor', '--repair'],
  ]) {
    const { code, stderr } = await offerline(follower.root, ...words);
    expect({ words, code, stderr }).toMatchObject({ code: exitCode.usage, stderr: expect.stringContaining('follows') });
  }
  expect(await readdir(join(follower.root, 'warehouse')).catch(() => [])).not.toContain('state.duckdb');
});

it('on a full disk what is here stays, it is said once, and the snapshot comes when there is room', async () => {
  await publish(0);
  const told: string[] = [];
  const logger = createLogger({ write: (line) => void told.push(line) }, 'info');
  let isFull = false;
  const files = {
    ...realEffects.files,
    syncFile: async (path: string, step: string) => {
      if (isFull) throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
      await realEffects.files.syncFile(path, step);
    },
  };
  const settings = storageSchema.parse({ ...storageAt(seed, proxy.url), follow: true });
  const following = await followStorage(settings, { data: follower, effects: { ...realEffects, files }, logger });
  onTestFinished(() => following.stop());
  const before = await readlink(follower.current);
  isFull = true;
  const next = await publish(1);
  while (!told.some((line) => line.includes('ENOSPC'))) await setTimeout(50);
  const looks = proxy.requests.length;
  while (proxy.requests.length < looks + 4) await setTimeout(50);
  expect(await readlink(follower.current)).toBe(before);
  expect(told.filter((line) => line.includes('what is here is served on'))).toHaveLength(1);
  isFull = false;
  while ((await readlink(follower.current)) !== next) await setTimeout(50);
  expect(await publishedTables(follower)).toEqual(await publishedTables(writer));
});

it('says at its start which key cannot be read', async () => {
  await writeFile(
    follower.settingsFile,
    JSON.stringify({
      storage: { ...storageAt(seed, proxy.url), follow: true, secret_access_key: { env: 'NOT_THERE' } },
    }),
  );
  const { code, stderr } = await offerline(follower.root, 'serve', '--port', '0');
  expect(code).toBe(exitCode.usage);
  expect(stderr).toContain('storage.secret_access_key: the environment has no NOT_THERE');
});

it('refuses a bucket that goes back, also after a restart, until the operator accepts it', async () => {
  const first = await publish(0);
  const { text } = (await machines.store.readText('current.json')) as { text: string };
  const second = await publish(1);
  const before = await served();
  expect(await before.id()).toBe(second);
  await moto.put(`network-${seed}/current.json`, text);
  await before.child.tells('what is here is served on: .* has gone back: run 1 .* seen run 2');
  before.child.kill('SIGTERM');
  await before.child.ended;
  const after = await served();
  await after.child.tells('has gone back');
  expect(await after.id()).toBe(second);
  await command(follower.root, 'storage', 'accept');
  await after.child.tells('storage is followed again');
  await vi.waitFor(async () => expect(await after.id()).toBe(first), { timeout: 20_000 });
});
