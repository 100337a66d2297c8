import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { storageSchema } from '../../../src/kit/config/storage-settings.ts';
import { realEffects } from '../../../src/kit/files/effects.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { examineSchedule, readSchedule } from '../../../src/pipeline/doctor/examine-schedule.ts';
import { leaseTimes } from '../../../src/pipeline/runs/held-lease.ts';
import { RoleNote, type ReportedRole } from '../../../src/pipeline/runs/storage-role.ts';
import { WriterLease } from '../../../src/fleet/storage/lease.ts';
import { ObjectStore, storePatience } from '../../../src/fleet/storage/object-store.ts';
import { offerline } from '../../support/command-line.ts';
import { endOf } from '../../support/commands.ts';
import { PipelineUnderTest } from '../../support/pipeline-under-test.ts';
import { SmallBucket } from '../../support/small-bucket.ts';
import { slow } from '../../support/slow.ts';

const minutes = 60_000;
let bucket: SmallBucket;
beforeEach(async () => {
  bucket = await SmallBucket.start();
});
afterEach(() => bucket.close());

const storageSettings = () => ({
  url: `s3://${bucket.name}/network`,
  endpoint: bucket.url,
  access_key_id: 'id',
  secret_access_key: 'very/secret+key',
});

/** A machine whose clock is ahead of the real one, whose lease times pass as the test says. */
async function machine(ahead = 0) {
  const clock = { ahead };
  const root = await mkdtemp(join(tmpdir(), 'offerline-clock-'));
  const data = new DataDirectory(root);
  await mkdir(data.warehouse);
  const store = await ObjectStore.open(
    storageSchema.parse(storageSettings()),
    { ...storePatience, tries: 1 },
    () => Date.now() + clock.ahead,
  );
  onTestFinished(async () => {
    store[Symbol.dispose]();
    await rm(root, { recursive: true });
  });
  let logged = '';
  const logger = createLogger({ write: (line: string) => ((logged += line), true) });
  const note = new RoleNote(data.scheduleRoleFile, store.url, { effects: realEffects, logger });
  let steady = 1_000_000;
  const clocks = { steady: () => steady, wall: () => steady };
  const reported: ReportedRole[] = [];
  const reportRole = async (role: ReportedRole) => {
    reported.push(role);
    await note.report({ ...role, clockOffset: store.clockOffset });
  };
  const leasing = { data, store, logger, effects: realEffects, clocks, reportRole };
  return {
    data,
    store,
    clock,
    reported,
    logged: () => logged,
    move: (milliseconds: number) => (steady += milliseconds),
    acquire: (stop = AbortSignal.timeout(20_000)) =>
      WriterLease.acquire({ ...leasing, times: { ...leaseTimes, look: 1, renewal: 1 } }, async () => 1, stop),
  };
}

it('an answer of storage shows by how much this clock is ahead or behind, and nothing that it cannot show', async () => {
  const { store, clock } = await machine();
  expect(store.clockOffset).toBeUndefined();
  const offset = async () => {
    await store.readText('lease.json');
    return store.clockOffset;
  };
  expect(Math.abs((await offset()) as number)).toBeLessThan(1_000);
  clock.ahead = 10 * minutes;
  expect(Math.round(((await offset()) as number) / minutes)).toBe(10);
  clock.ahead = -10 * minutes;
  expect(Math.round(((await offset()) as number) / minutes)).toBe(-10);
  // An answer that took long may have been written at any moment meanwhile.
  clock.ahead = -minutes;
  bucket.fault = () => {
    clock.ahead = 5 * minutes;
    return undefined;
  };
  expect(await offset()).toBe(0);
  bucket.fault = () => ({ status: 503, code: 'SlowDown' });
  bucket.dateAhead = -20 * minutes;
  await expect(offset()).rejects.toThrow('503');
  expect(Math.round((store.clockOffset as number) / minutes)).toBe(25);
});

it('storage that sends no date says nothing of the clock, and the lease is taken', async () => {
  bucket.dateAhead = undefined;
  const one = await machine(10 * minutes);
  const lease = await one.acquire();
  expect({ offset: one.store.clockOffset, epoch: lease?.epoch }).toEqual({ offset: undefined, epoch: 1 });
  await lease?.release();
});

it.each([10.5 * minutes, -10.5 * minutes])(
  'a machine %i ms off takes no lease until its clock is set',
  async (ahead) => {
    const one = await machine(ahead);
    const taken = one.acquire();
    await vi.waitFor(() => expect(one.reported.length).toBeGreaterThan(2));
    expect(bucket.requests.filter(({ kind }) => kind === 'put')).toEqual([]);
    expect(one.reported[0]).toEqual({ role: 'stands_by', writer: null, error: null });
    const direction = ahead > 0 ? 'ahead of' : 'behind';
    const trouble = `this machine's clock is 10 min ${direction} that of s3://logs/network`;
    expect(one.logged()).toContain(`this schedule does not take the lease: ${trouble}; set the clock`);
    expect(one.logged().match(/does not take the lease/g)).toHaveLength(1);
    const storage = storageSchema.parse(storageSettings());
    expect(readSchedule(one.data, { storage })).toMatchObject({
      error: null,
      clock_offset_seconds: expect.closeTo(ahead / 1000, -1) as number,
    });
    expect(examineSchedule(one.data, { storage })).toMatchObject([
      { level: 'trouble', problem: trouble, advice: expect.stringContaining('chrony') as string },
    ]);

    one.clock.ahead = 0;
    const lease = await taken;
    expect(examineSchedule(one.data, { storage })).toEqual([]);
    await lease?.release();
  },
);

it('a holder whose clock stays wrong gives up the lease, which a machine with a right one takes', async () => {
  const [one, other] = [await machine(), await machine()];
  const lease = await one.acquire();
  one.clock.ahead = 10 * minutes;
  const renewed = async () => {
    const before = bucket.requests.length;
    await vi.waitFor(() => expect(bucket.requests.length).toBeGreaterThan(before + 1), { interval: 1 });
  };
  /** As much time as passes between two renewals each. */
  const pass = async (milliseconds: number) => {
    for (let left = milliseconds; left > 0; left -= 20_000) {
      await renewed();
      one.move(Math.min(left, 20_000));
    }
    await renewed();
  };
  await pass(leaseTimes.wrongClock - 1);
  // Set within the minute, it costs nothing.
  one.clock.ahead = 0;
  await pass(leaseTimes.wrongClock);
  one.clock.ahead = 10 * minutes;
  await pass(leaseTimes.wrongClock - 1);
  expect({ unfit: lease?.unfit.aborted, lost: lease?.lost.aborted }).toEqual({ unfit: false, lost: false });
  await pass(1);
  await vi.waitFor(() => expect(lease?.unfit.aborted).toBe(true));
  // Its runs and deliveries end first: until then nobody else begins.
  expect(lease?.lost.aborted).toBe(false);
  expect(one.logged()).toContain('gives up the writer lease to any other machine; set the clock');
  await lease?.release();
  const [next, again] = [await other.acquire(), one.acquire(AbortSignal.timeout(50))];
  expect({ next: next?.epoch, again: await again }).toEqual({ next: 1, again: undefined });
  await next?.release();
});

it('no run is made with a wrong clock, and status says what to do', slow, async () => {
  await using pipeline = await PipelineUnderTest.create(new Date('2026-03-10T12:00:00Z'), {
    settings: { storage: storageSettings() },
  });
  bucket.dateAhead = -10 * minutes;
  const { code, stderr } = await offerline(pipeline.data.root, 'run', 'refresh');
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(
      /no run is made: this machine's clock is \d+ min ahead of that of s3:.*chrony/,
    ) as string,
  });
  expect(bucket.requests.filter(({ kind, key }) => kind === 'put' && key.includes('current'))).toEqual([]);
  const status = await endOf(pipeline.data.root, 'status');
  expect(status).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/run refresh failed at .*this machine's clock is .*set the clock/) as string,
  });
  bucket.dateAhead = 0;
  expect((await offerline(pipeline.data.root, 'run', 'refresh')).code).toBe(0);
  expect((await endOf(pipeline.data.root, 'status')).code).toBe(0);
});
