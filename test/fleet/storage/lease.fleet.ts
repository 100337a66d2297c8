import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { DataDirectory } from '../../../src/config/data-directory.ts';
import { storageSchema } from '../../../src/config/storage-settings.ts';
import { realEffects, type Effects } from '../../../src/files/effects.ts';
import { createLogger } from '../../../src/logging/log.ts';
import { holdsLease } from '../../../src/storage/held-lease.ts';
import { WriterLease } from '../../../src/storage/lease.ts';
import { ObjectStore, StorageError } from '../../../src/storage/object-store.ts';
import { FaultyProxy } from '../../s3/store/faulty-proxy.ts';
import { Moto } from '../../s3/store/moto.ts';
import { storageAt } from './machines.ts';

const moto = await Moto.start();
await moto.createBucket();
afterAll(() => moto[Symbol.asyncDispose]());

const times = { renewal: 100, look: 50, believed: 1_000, silence: 1_800 };
const logger = createLogger({ write: () => true }, 'silent');
const never = new AbortController().signal;
let network = 1000;

/** Of one network: how a machine of it comes to hold the lease, and what became of it. */
async function networkOf(endpoint = moto.url) {
  const seed = ++network;
  const machine = async (address = endpoint) => {
    const root = await mkdtemp(join(tmpdir(), 'offerline-lease-'));
    const store = await ObjectStore.open(storageSchema.parse(storageAt(seed, address)));
    onTestFinished(async () => {
      store[Symbol.dispose]();
      await rm(root, { recursive: true });
    });
    const data = new DataDirectory(root);
    const acquire = (takeEpoch: () => Promise<number>, stop = never, effects: Effects = realEffects) =>
      WriterLease.acquire({ data, store, logger, effects, times }, takeEpoch, stop);
    return { data, store, acquire };
  };
  return machine;
}

it('a lease is renewed while its epoch is taken, however long that takes', async () => {
  const machine = await networkOf();
  const [one, other] = [await machine(), await machine()];
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const slow = one.acquire(async () => {
    begin();
    await setTimeout(2 * times.silence);
    return 1;
  });
  await begun;
  const stop = new AbortController();
  let wasTaken = false;
  const waiting = other.acquire(async () => {
    wasTaken = true;
    return 2;
  }, stop.signal);
  const lease = await slow;
  expect(wasTaken).toBe(false);
  expect(lease?.lost.aborted).toBe(false);
  expect(holdsLease(one.data, 1)).toBe(true);
  await lease?.release();
  const next = await waiting;
  expect(next?.epoch).toBe(2);
  await next?.release();
});

it('a renewal that comes while the epoch is told of waits for that', async () => {
  const one = await (await networkOf())();
  let written = 0;
  const effects: Effects = {
    ...realEffects,
    files: {
      ...realEffects.files,
      rename: async (from, to, step) => {
        // Long enough for the renewal, and for nothing to be left to rename if it wrote meanwhile.
        if (++written === 1) await setTimeout(3 * times.renewal);
        return realEffects.files.rename(from, to, step);
      },
    },
  };
  const lease = await one.acquire(async () => 1, never, effects);
  expect(holdsLease(one.data, 1)).toBe(true);
  expect(lease?.lost.aborted).toBe(false);
  await lease?.release();
  expect(written).toBeGreaterThan(1);
});

it('where the epoch cannot be taken another machine need not wait', async () => {
  const machine = await networkOf();
  const [one, other] = [await machine(), await machine()];
  const failed = one.acquire(async () => {
    throw new Error('its disk is full');
  });
  await expect(failed).rejects.toThrow('its disk is full');
  const began = performance.now();
  const lease = await other.acquire(async () => 2);
  expect(performance.now() - began).toBeLessThan(times.silence);
  expect(holdsLease(one.data, 1)).toBe(false);
  await lease?.release();
});

it('whoever loses the swap of the epoch tries again by itself', async () => {
  const one = await (await networkOf())();
  let tries = 0;
  const lease = await one.acquire(async () => {
    if (++tries < 3) throw new StorageError('another run was faster');
    return tries;
  });
  expect(lease?.epoch).toBe(3);
  await lease?.release();
});

it('a holder whose storage falls silent stops believing, delivers nothing more, and another takes over', async () => {
  const proxy = await FaultyProxy.before(moto.url);
  onTestFinished(() => proxy[Symbol.asyncDispose]());
  const machine = await networkOf();
  const [one, other] = [await machine(proxy.url), await machine()];
  const lease = await one.acquire(async () => 1);
  proxy.fault = () => ({ silent: true });
  const began = performance.now();
  const waiting = other.acquire(async () => 2);
  const lost = new Promise((resolve) => lease?.lost.addEventListener('abort', resolve));
  await lost;
  expect(performance.now() - began).toBeLessThan(times.silence);
  expect(holdsLease(one.data, 1)).toBe(false);
  expect((await waiting)?.epoch).toBe(2);
  await (await waiting)?.release();
});

it('what nobody can read as a lease is taken over once it is silent', async () => {
  const one = await (await networkOf())();
  await one.store.writeText('lease.json', 'not ours', 'none');
  const lease = await one.acquire(async () => 1);
  expect(lease?.epoch).toBe(1);
  await lease?.release();
});
