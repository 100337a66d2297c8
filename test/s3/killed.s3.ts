import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { launcher } from '../support/command-line.ts';
import { bucketData, landedClicks } from './store/bucket-source.ts';
import { FaultyProxy } from './store/faulty-proxy.ts';
import { Moto } from './store/moto.ts';
import { pullInProcess, startPull } from './store/pull-process.ts';

const large = Buffer.from(randomBytes(15_000_000).toString('base64'));
let moto: Moto;
let proxy: FaultyProxy;
let data: DataDirectory;

beforeAll(async () => {
  moto = await Moto.start();
  await moto.createBucket();
  await moto.put('clicks/large.ndjson', large);
  for (const name of ['a', 'b', 'c']) await moto.put(`clicks/${name}.ndjson`, `${name}\n`);
  return () => moto[Symbol.asyncDispose]();
});
beforeEach(async () => {
  proxy = await FaultyProxy.before(moto.url);
  onTestFinished(() => proxy[Symbol.asyncDispose]());
  const temporary = await bucketData(proxy.url);
  onTestFinished(temporary.remove);
  data = temporary.data;
});

async function expectAllOnce(): Promise<void> {
  const landed = await landedClicks(data);
  expect([...landed.keys()].filter((name) => name.endsWith('.part'))).toEqual([]);
  const [longest, ...others] = [...landed.values()].toSorted((one, other) => other.length - one.length);
  expect(longest?.equals(large)).toBe(true);
  expect(others.map(String).toSorted()).toEqual(['a\n', 'b\n', 'c\n']);
}

describe('a pull that is asked to end', () => {
  it('ends within an object, says so, and the next one goes on there', async () => {
    proxy.fault = ({ path }) => (path.includes('large') ? { silentAfter: 12_000_000 } : undefined);
    const running = spawn(launcher.executable, [...launcher.words, 'sources', 'pull', '--json'], {
      env: { ...process.env, OFFERLINE_DATA: data.root },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const said = text(running.stdout);
    const ended = once(running, 'exit');
    await proxy.silent;
    running.kill('SIGTERM');
    expect(await ended).toEqual([1, null]);
    expect(JSON.parse(await said)).toMatchObject({ sources: [{ status: 'interrupted', records: 3 }] });
    const held = noted(await landedClicks(data));
    expect(held).toBeGreaterThan(0);

    proxy.fault = () => undefined;
    proxy.takeReads();
    expect((await pullInProcess({ root: data.root, killAt: null }))?.pulled).toMatchObject([{ records: 1 }]);
    expect(proxy.takeReads().map(({ range }) => range)).toEqual([`bytes=${held}-${large.length - 1}`]);
    await expectAllOnce();
  });
});

describe('a pull that is killed', () => {
  it('in the middle of an object goes on within it', async () => {
    proxy.fault = ({ path }) => (path.includes('large') ? { silentAfter: 12_000_000 } : undefined);
    const running = startPull({ root: data.root, killAt: null });
    await proxy.silent;
    // What was sent has been read and noted once the part is that long.
    await expect.poll(async () => noted(await landedClicks(data)), { timeout: 20_000 }).toBeGreaterThan(8_388_608);
    running.kill('SIGKILL');
    await once(running, 'exit');
    expect([...(await landedClicks(data)).keys()].some((name) => /large.*ndjson$/.test(name))).toBe(false);

    proxy.fault = () => undefined;
    proxy.takeReads();
    const said = await pullInProcess({ root: data.root, killAt: null });
    expect(said?.pulled).toMatchObject([{ status: 'done', records: 4 }]);
    await expectAllOnce();
    const from = /^bytes=(\d+)-/.exec(proxy.takeReads().find(({ path }) => path.includes('large'))?.range ?? '')?.[1];
    expect(Number(from)).toBeGreaterThanOrEqual(8_388_608);
  });

  it.each(
    ['written', 'dated', 'fsynced', 'renamed'].flatMap((step) =>
      (['before', 'after'] as const).map((moment) => ({ step: `s3 object: ${step}`, moment, occurrence: 2 })),
    ),
  )('$moment "$step" takes each object once', async (killAt) => {
    expect(await pullInProcess({ root: data.root, killAt })).toBeUndefined();
    const said = await pullInProcess({ root: data.root, killAt: null });
    expect(said?.pulled).toMatchObject([{ status: 'done', error: null }]);
    await expectAllOnce();
    proxy.takeReads();
    const again = await pullInProcess({ root: data.root, killAt: null });
    expect(again?.pulled).toMatchObject([{ status: 'done', records: 0 }]);
    expect(proxy.takeReads()).toEqual([]);
  });

  it.each(['folder synced', 'taken'])(
    'before or after "s3 objects: %s" asks for nothing twice that has its name',
    async (step) => {
      for (const moment of ['before', 'after'] as const) {
        const temporary = await bucketData(proxy.url);
        onTestFinished(temporary.remove);
        data = temporary.data;
        expect(
          await pullInProcess({ root: data.root, killAt: { step: `s3 objects: ${step}`, moment, occurrence: 1 } }),
        ).toBeUndefined();
        proxy.takeReads();
        const said = await pullInProcess({ root: data.root, killAt: null });
        expect(said?.pulled).toMatchObject([{ status: 'done', error: null }]);
        expect(proxy.takeReads()).toEqual([]);
        await expectAllOnce();
      }
    },
  );
});

function noted(landed: ReadonlyMap<string, Buffer>): number {
  return [...landed].find(([name]) => name.includes('large'))?.[1].length ?? 0;
}
