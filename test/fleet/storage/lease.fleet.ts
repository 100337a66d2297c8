import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, expect, it, onTestFinished, vi } from 'vitest';
import { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { storageSchema } from '../../../src/kit/config/storage-settings.ts';
import { realEffects, type Effects } from '../../../src/kit/files/effects.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { holdsLease, realLeaseClocks, type LeaseClocks } from '../../../src/pipeline/runs/held-lease.ts';
import { WriterLease } from '../../../src/fleet/storage/lease.ts';
import { leaseTimes } from '../../../src/pipeline/runs/held-lease.ts';
import { LostSwapError, ObjectStore, StorageError } from '../../../src/fleet/storage/object-store.ts';
import { readPointer } from '../../../src/fleet/storage/pointer.ts';
import { takeEpoch } from '../../../src/fleet/storage/writer/sync-from-storage.ts';
import { FaultyProxy } from '../../s3/store/faulty-proxy.ts';
import { Moto } from '../../s3/store/moto.ts';
import { storageAt } from './machines.ts';

const moto = await Moto.start();
await moto.createBucket();
afterAll(() => moto[Symbol.asyncDispose]());

/** For tests in which real time passes, as little as can be. */
const times = { renewal: 100, look: 50, believed: 1_000, silence: 1_800, wrongClock: 600_000 };
const logger = createLogger({ write: () => true }, 'silent');
const never = new AbortController().signal;
let network = 1000;

/**
 * Time that passes where the test says so: a machine that is slow makes no lease end. Renewals and looks, which storage
 * takes part in, come as soon as ever.
 */
class MovedTime implements LeaseClocks {
  readonly times = { ...leaseTimes, renewal: times.renewal, look: times.look };
  #now = 1_000_000;
  readonly steady = () => this.#now;
  readonly wall = () => this.#now;
  move(milliseconds: number): void {
    this.#now += milliseconds;
  }
}

type TakeEpoch = Parameters<typeof WriterLease.acquire>[1];

/** Of one network: how a machine of it comes to hold the lease, and what became of it. */
async function networkOf(time?: MovedTime) {
  const seed = ++network;
  const clocks = time ?? realLeaseClocks;
  const machine = async (address = moto.url) => {
    const root = await mkdtemp(join(tmpdir(), 'offerline-lease-'));
    const store = await ObjectStore.open(storageSchema.parse(storageAt(seed, address)));
    onTestFinished(async () => {
      store[Symbol.dispose]();
      await rm(root, { recursive: true });
    });
    const data = new DataDirectory(root);
    await mkdir(data.warehouse);
    const acquire = (epochTaken: TakeEpoch, stop = never, effects: Effects = realEffects) =>
      WriterLease.acquire({ data, store, logger, effects, clocks, times: time?.times ?? times }, epochTaken, stop);
    return { data, store, acquire };
  };
  return machine;
}

type Machine = Awaited<ReturnType<Awaited<ReturnType<typeof networkOf>>>>;

/** Returns once the lease in storage is another text than it is now. */
async function anotherBeat({ store }: Pick<Machine, 'store'>): Promise<void> {
  const lease = async () => (await store.readText('lease.json'))?.text;
  const before = await lease();
  await vi.waitFor(async () => expect(await lease()).not.toBe(before), { timeout: 20_000 });
}

it('a lease is renewed while its epoch is taken, however long that takes', async () => {
  const time = new MovedTime();
  const machine = await networkOf(time);
  const [one, other] = [await machine(), await machine()];
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const slow = one.acquire(async () => {
    begin();
    for (let taken = 0; taken < 2 * leaseTimes.silence; taken += leaseTimes.renewal) {
      await anotherBeat(one);
      time.move(leaseTimes.renewal);
    }
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
  expect(holdsLease(one.data, 1, time)).toBe(true);
  await lease?.release();
  const next = await waiting;
  expect(next?.epoch).toBe(2);
  await next?.release();
});

it('a renewal that comes while the epoch is told of waits for that', async () => {
  const time = new MovedTime();
  const one = await (await networkOf(time))();
  let written = 0;
  const effects: Effects = {
    ...realEffects,
    files: {
      ...realEffects.files,
      rename: async (from, to, step) => {
        if (++written === 1) {
          await anotherBeat(one);
          // Long enough for nothing to be left to rename if the renewal wrote meanwhile.
          await setTimeout(3 * times.renewal);
        }
        return realEffects.files.rename(from, to, step);
      },
    },
  };
  const lease = await one.acquire(async () => 1, never, effects);
  expect(holdsLease(one.data, 1, time)).toBe(true);
  expect(lease?.lost.aborted).toBe(false);
  await vi.waitFor(() => expect(written).toBeGreaterThan(1), { timeout: 20_000 });
  await lease?.release();
});

it('a renewal that is written, and whose answer is lost, loses no lease', async () => {
  const time = new MovedTime();
  const one = await (await networkOf(time))();
  const lease = await one.acquire(async () => 1);
  const write = one.store.writeText.bind(one.store);
  vi.spyOn(one.store, 'writeText').mockImplementationOnce(async (...given) => {
    await write(...given);
    throw new StorageError('no whole answer (ECONNRESET)');
  });
  await anotherBeat(one);
  // Longer than a lease lasts that nobody renews.
  for (let passed = 0; passed < leaseTimes.believed; passed += leaseTimes.renewal) {
    time.move(leaseTimes.renewal);
    await anotherBeat(one);
  }
  expect(lease?.lost.aborted).toBe(false);
  await vi.waitFor(() => expect(holdsLease(one.data, 1, time)).toBe(true));
  await lease?.release();
});

it('where the epoch cannot be taken another machine need not wait', async () => {
  // A time that stands still: nobody falls silent.
  const time = new MovedTime();
  const machine = await networkOf(time);
  const [one, other] = [await machine(), await machine()];
  const failed = one.acquire(async () => {
    throw new Error('its disk is full');
  });
  await expect(failed).rejects.toThrow('its disk is full');
  const lease = await other.acquire(async () => 2, AbortSignal.timeout(20_000));
  expect(lease?.epoch).toBe(2);
  expect(holdsLease(one.data, 1, time)).toBe(false);
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
  const held = () => ({ lost: lease?.lost.aborted, delivers: holdsLease(one.data, 1) });
  let heldThen: ReturnType<typeof held> | undefined;
  const next = await other.acquire(async () => {
    heldThen = held();
    return 2;
  });
  expect(heldThen).toEqual({ lost: true, delivers: false });
  expect(next?.epoch).toBe(2);
  await next?.release();
});

it('one that is woken after another has taken the lease and the epoch takes no epoch more', async () => {
  const proxy = await FaultyProxy.before(moto.url);
  onTestFinished(() => proxy[Symbol.asyncDispose]());
  const machine = await networkOf();
  const [one, other] = [await machine(proxy.url), await machine()];
  const standingOf = ({ data, store }: Machine) => ({
    data,
    store,
    logger,
    effects: realEffects,
    settings: { lock_wait_seconds: 0 },
  });
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const { promise: woken, resolve: wake } = Promise.withResolvers<void>();
  const stop = new AbortController();
  let tried: Promise<number> | undefined;
  // As if it were stopped between the lease and its look at the pointer.
  const slow = one.acquire(async (assertHeld) => {
    begin();
    await woken;
    return (tried ??= takeEpoch(standingOf(one), assertHeld));
  }, stop.signal);
  await begun;
  proxy.fault = () => ({ silent: true });
  const lease = await other.acquire((assertHeld) => takeEpoch(standingOf(other), assertHeld));
  proxy.fault = () => undefined;
  wake();
  await vi.waitFor(() => expect(tried).toBeDefined());
  await expect(tried).rejects.toThrow(LostSwapError);
  stop.abort();
  expect(await slow).toBeUndefined();
  // Else all processes of the one that leads would be refused, for as long as it renews its lease.
  expect((await readPointer(other.store))?.pointer.epoch).toBe(lease?.epoch);
  await lease?.release();
});

it('what nobody can read as a lease is taken over once it is silent', async () => {
  const one = await (await networkOf())();
  await one.store.writeText('lease.json', 'not ours', 'none');
  const lease = await one.acquire(async () => 1);
  expect(lease?.epoch).toBe(1);
  await lease?.release();
});
