import { cp, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { exitCode } from '../../../src/kit/errors/errors.ts';
import { Moto } from '../../s3/store/moto.ts';
import { endOf, usageErrorOf } from '../../support/commands.ts';
import { Child } from './child.ts';
import { changeJson, Machines, storageAt } from './machines.ts';

const moto = await Moto.start();
await moto.createBucket();
afterAll(() => moto[Symbol.asyncDispose]());

let seed = 2300;
let machines: Machines;
let one: DataDirectory;
let two: DataDirectory;

beforeEach(async () => {
  machines = await Machines.create(++seed, 2, [moto.url, moto.url]);
  onTestFinished(() => machines[Symbol.asyncDispose]());
  [one, two] = machines.together as [DataDirectory, DataDirectory];
  await machines.land(0);
});

it('a standby and a follower with another sites.json say so, until it is the same', async () => {
  const follower = new DataDirectory(join(one.root, '..', 'follower'));
  await cp(two.root, follower.root, { recursive: true });
  await changeJson(follower.settingsFile, { storage: { ...storageAt(seed, moto.url), follow: true } });
  for (const data of [two, follower]) {
    await cp(data.sitesFile, `${data.sitesFile}.right`);
    await changeJson(data.sitesFile, { sites: [{ site_key: 'perkhaven', site_secret: 'another-secret' }] });
  }
  for (const { settingsFile } of machines.together)
    await changeJson(settingsFile, { schedule: { refresh: '*/5 * * * * *', postbacks: null, maintenance: null } });
  await cp(two.settingsFile, `${two.settingsFile}.right`);
  await changeJson(two.settingsFile, { rates: { CHF: '1.21' } });

  await using first = Child.offerline(one, ['schedule']);
  await first.tells('published to storage');
  await using second = Child.offerline(two, ['schedule']);
  await second.tells('sites.json and offerline.json here differ from those of the machine that published run');
  await using serving = Child.offerline(follower, ['serve', '--port', '0', '--json']);
  await serving.tells('sites.json here differs from that of the machine that published run');
  for (const data of [two, follower])
    expect(await endOf(data.root, 'status')).toMatchObject({
      code: exitCode.failed,
      stderr: expect.stringMatching(/sites\.json.* here differs? from .*copy the right file to all machines/) as string,
    });
  expect((await endOf(one.root, 'status')).stdout).not.toContain('differ');

  for (const data of [two, follower]) await cp(`${data.sitesFile}.right`, data.sitesFile);
  await cp(`${two.settingsFile}.right`, two.settingsFile);
  for (const child of [second, serving]) await child.tells('configuration files agree');
  for (const data of [two, follower])
    await vi.waitFor(async () => expect(await endOf(data.root, 'status')).toMatchObject({ code: exitCode.done }), {
      timeout: 30_000,
    });
  // No secret, and nothing that a secret could be looked up in, is in storage.
  const { text } = (await machines.store.readText('current.json')) as { text: string };
  expect(text).toMatch(/"configuration": ?\{\s*"salt"/);
  expect(text).not.toContain('secret');
}, 120_000);

it('two machines that publish one landing folder to two places: the second one is refused', async () => {
  await rm(two.landing, { recursive: true });
  await symlink(one.landing, two.landing);
  await changeJson(two.settingsFile, { storage: storageAt(seed + 50, moto.url) });
  const first = await endOf(one.root, 'run', 'ingest');
  expect(first).toMatchObject({ code: exitCode.done });
  expect(await usageErrorOf(two.root, 'run', 'ingest')).toContain(`publish to s3://logs/network-${seed}`);
  await changeJson(two.settingsFile, { storage: undefined });
  expect(await usageErrorOf(two.root, 'run', 'refresh')).toContain('names no storage');
});
