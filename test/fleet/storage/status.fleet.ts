import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { exitCode } from '../../../src/kit/errors/errors.ts';
import { FaultyProxy } from '../../s3/store/faulty-proxy.ts';
import { Moto } from '../../s3/store/moto.ts';
import { endOf } from '../../support/commands.ts';
import { Child } from './child.ts';
import { changeJson, Machines, storageAt } from './machines.ts';

const moto = await Moto.start();
await moto.createBucket();
afterAll(() => moto[Symbol.asyncDispose]());

let seed = 1500;
let proxy: FaultyProxy;
let machines: Machines;
let one: DataDirectory;
let two: DataDirectory;

/** The first machine reaches storage through the proxy, the other one by itself. */
beforeEach(async () => {
  proxy = await FaultyProxy.before(moto.url);
  machines = await Machines.create(++seed, 3, [proxy.url, moto.url], moto.url);
  onTestFinished(async () => {
    await machines[Symbol.asyncDispose]();
    await proxy[Symbol.asyncDispose]();
  });
  [one, two] = machines.together as [DataDirectory, DataDirectory];
  for (const { settingsFile } of machines.together)
    await changeJson(settingsFile, { schedule: { refresh: '*/5 * * * * *', postbacks: null, maintenance: null } });
  await machines.land(0);
});

interface Told {
  schedule: { role: string; writer: string | null; lease_age_seconds: number | null; error: string | null };
  refused_runs: { times: number } | null;
  alarms: string[];
}

async function statusOf({ root }: DataDirectory): Promise<Told & { code: number | null }> {
  const { code, stdout, stderr } = await endOf(root, 'status', '--json');
  expect(stdout + stderr).not.toContain('secret+key');
  return { code, ...(JSON.parse(stdout) as Told) };
}

/** Asks until it is so, and fails with what it was last where that takes too long. */
async function untilStatus(data: DataDirectory, isSo: (told: Told & { code: number | null }) => boolean) {
  const begun = performance.now();
  for (;;) {
    const told = await statusOf(data);
    if (isSo(told)) return told;
    if (performance.now() - begun > 120_000) throw new Error(JSON.stringify({ ...told }));
    await setTimeout(1000);
  }
}

it('tells which schedule writes and which stands by, that storage is away, and that it is back', async () => {
  await using first = Child.offerline(one, ['schedule']);
  await first.tells('published to storage');
  await using second = Child.offerline(two, ['schedule']);
  await second.tells('standing by');
  expect(await untilStatus(one, ({ schedule }) => schedule.role === 'writes')).toMatchObject({
    code: exitCode.done,
    schedule: { role: 'writes', writer: null, lease_age_seconds: expect.any(Number) as number, error: null },
  });
  expect(await untilStatus(two, ({ schedule }) => schedule.writer !== null)).toMatchObject({
    code: exitCode.done,
    schedule: {
      writer: expect.stringContaining(`process ${first.process.pid}`) as string,
      lease_age_seconds: expect.any(Number) as number,
    },
  });

  proxy.fault = () => ({ cutAfter: 0 });
  const away = await untilStatus(one, ({ code }) => code === exitCode.failed);
  expect(away.alarms.join('\n')).toMatch(/cannot (read|write|copy to) .*ECONNRESET/);
  // Runs of the schedule are refused until it gives up, then it stands by; the other machine takes over and is well.
  await second.tells('this schedule writes now');
  await first.tells('this one stops and is on standby');
  expect(await untilStatus(one, ({ schedule }) => schedule.role === 'stands_by')).toMatchObject({
    code: exitCode.failed,
    schedule: { error: expect.stringContaining('ECONNRESET') as string },
  });
  expect(await untilStatus(two, ({ schedule }) => schedule.role === 'writes')).toMatchObject({ code: exitCode.done });

  proxy.fault = () => undefined;
  expect(await untilStatus(one, ({ code }) => code === exitCode.done)).toMatchObject({
    schedule: { role: 'stands_by', error: null },
    refused_runs: null,
    alarms: [],
  });

  // One that is stopped holds its lock, but not its lease.
  second.kill('SIGSTOP');
  expect(await untilStatus(two, ({ code }) => code === exitCode.failed)).toMatchObject({
    alarms: [expect.stringContaining('its lease was not renewed for') as string],
  });
  second.kill('SIGCONT');
  first.kill('SIGTERM');
  second.kill('SIGTERM');
  expect([await first.ended, await second.ended]).toEqual([exitCode.done, exitCode.done]);
  expect(await statusOf(one)).toMatchObject({ code: exitCode.done, schedule: { role: 'neither', error: null } });
});

it('a bucket that was emptied is told by both schedules and by a service that follows', async () => {
  const follower = new DataDirectory(join(one.root, '..', 'follower'));
  await mkdir(follower.root);
  await cp(one.sitesFile, follower.sitesFile);
  await changeJson(follower.settingsFile, { storage: { ...storageAt(seed, moto.url), follow: true } });
  await using first = Child.offerline(one, ['schedule']);
  await first.tells('published to storage');
  await using second = Child.offerline(two, ['schedule']);
  await second.tells('standing by');
  await using serving = Child.offerline(follower, ['serve', '--port', '0', '--json']);
  await serving.tells('"address": ?"http:');
  await second.tells('another machine has written since');
  expect(await untilStatus(follower, ({ schedule }) => schedule.role === 'follows')).toMatchObject({
    code: exitCode.done,
    alarms: [],
  });
  expect(await untilStatus(two, ({ schedule }) => schedule.writer !== null)).toMatchObject({ code: exitCode.done });

  for await (const { key } of machines.store.list('')) await machines.store.remove(key);
  for (const data of [one, two, follower]) {
    // While it is being emptied, a content may be missed first.
    const told = await untilStatus(data, ({ schedule }) => schedule.error?.includes('current.json') === true);
    expect(told).toMatchObject({
      code: exitCode.failed,
      schedule: {
        error: expect.stringMatching(/has no current\.json any more.*give storage\.url a new prefix/) as string,
      },
    });
  }
  // For good: nothing but the operator brings it back.
  for (let looks = 0; looks < 5; looks++)
    for (const data of [one, two, follower]) expect(await statusOf(data)).toMatchObject({ code: exitCode.failed });
});
