import { mkdir, stat } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { storageSchema } from '../../../src/kit/config/storage-settings.ts';
import { readSchedule, scheduleTrouble } from '../../../src/pipeline/doctor/examine-schedule.ts';
import { describeRole } from '../../../src/pipeline/status/describe-machine.ts';
import { exitCode } from '../../../src/kit/errors/errors.ts';
import { realEffects, type Effects } from '../../../src/kit/files/effects.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { acquireSchedulerLock } from '../../../src/cli/schedule/schedule.ts';
import { writeHeldLease } from '../../../src/pipeline/runs/held-lease.ts';
import { WriterLease } from '../../../src/fleet/storage/lease.ts';
import { leaseTimes } from '../../../src/pipeline/runs/held-lease.ts';
import { ObjectStore } from '../../../src/fleet/storage/object-store.ts';
import { RoleNote, type ReportedRole } from '../../../src/pipeline/runs/storage-role.ts';
import { offerline } from '../../support/command-line.ts';
import { endOf } from '../../support/commands.ts';
import { PipelineUnderTest } from '../../support/pipeline-under-test.ts';
import { slow } from '../../support/slow.ts';

const noon = '2026-03-10T12:00:00Z';
const logger = createLogger({ write: () => true }, 'silent');
const effects = { ...realEffects, now: () => Date.parse(noon) };
/** Nobody listens there. */
const awayStorage = {
  url: 's3://bucket/network',
  endpoint: 'http://127.0.0.1:1',
  access_key_id: 'id',
  secret_access_key: 'very/secret+key',
};
const storage = storageSchema.parse(awayStorage);
const at = (milliseconds: number) => ({ steady: () => milliseconds, wall: () => milliseconds });

async function place(): Promise<AsyncDisposable & { data: DataDirectory; note: RoleNote }> {
  const pipeline = await PipelineUnderTest.bare(new Date(noon));
  const { data } = pipeline;
  await mkdir(data.warehouse);
  const note = new RoleNote(data.scheduleRoleFile, storage.url, { effects, logger });
  return { data, note, [Symbol.asyncDispose]: () => pipeline[Symbol.asyncDispose]() };
}

it('without storage a schedule writes for as long as it holds its lock', async () => {
  await using here = await place();
  const { data } = here;
  expect(readSchedule(data, {})).toMatchObject({ role: 'neither', pid: null, error: null });
  const lock = await acquireSchedulerLock(data.scheduleLockFile);
  expect(readSchedule(data, {})).toMatchObject({ role: 'writes', pid: process.pid, storage: null, error: null });
  lock.release();
  expect(readSchedule(data, {})).toMatchObject({ role: 'neither' });
});

it('with storage it shows whether it writes or stands by, and how old its lease is', async () => {
  await using here = await place();
  const { data, note } = here;
  const lock = await acquireSchedulerLock(data.storageScheduleLockFile);
  expect(readSchedule(data, { storage })).toMatchObject({ role: 'stands_by', writer: null, error: null });
  await note.report({ role: 'stands_by', writer: 'other, process 7' });
  expect(readSchedule(data, { storage })).toMatchObject({
    role: 'stands_by',
    writer: 'other, process 7',
    lease_age_seconds: null,
    error: null,
  });
  await note.report({ role: 'stands_by', writer: 'other, process 7', renewalSeenAt: noon });
  const standby = readSchedule(data, { storage }, at(Date.parse(noon) + 12_000));
  expect(standby).toMatchObject({ role: 'stands_by', writer: 'other, process 7', lease_age_seconds: 12 });
  expect(describeRole(standby)).toContain('other, process 7 writes, the lease renewed 12 s ago');

  await note.report({ role: 'writes' });
  const until = leaseTimes.believed;
  await writeHeldLease(data, { epoch: 1, until: { steady: until, wall: until } }, effects);
  expect(readSchedule(data, { storage }, at(3_000))).toMatchObject({
    role: 'writes',
    writer: null,
    lease_age_seconds: 3,
    error: null,
  });
  // A stopped process holds its lock, and renews nothing.
  const stopped = readSchedule(data, { storage }, at(until));
  expect(scheduleTrouble(stopped)).toBe(
    'the schedule cannot write to storage: its lease was not renewed for 28 s: is its process stopped?',
  );

  await note.report({ role: 'writes', error: 'storage is away' });
  lock.release();
  expect(scheduleTrouble(readSchedule(data, { storage }))).toBe(
    `what ran here last could not use storage since ${noon}: storage is away`,
  );
  // Notes of another storage and of a process that ended as it should are gone.
  expect(readSchedule(data, { storage: { ...storage, url: 's3://bucket/other' } })).toMatchObject({ error: null });
  await note.forget();
  expect(readSchedule(data, { storage })).toMatchObject({ role: 'neither', error: null });
});

it('since when storage is away stays the same until it is back, also for a process that was started again', async () => {
  await using here = await place();
  const { data, note } = here;
  await note.report({ role: 'stands_by', error: 'one' });
  const later = { ...effects, now: () => Date.parse(noon) + 60_000 };
  const again = new RoleNote(data.scheduleRoleFile, storage.url, { effects: later, logger });
  await again.reportError('two');
  expect(readSchedule(data, { storage })).toMatchObject({ error: 'two', error_since: noon });
  await again.report({ role: 'stands_by' });
  expect(readSchedule(data, { storage })).toMatchObject({ error: null, error_since: null });
  expect((await stat(data.scheduleRoleFile)).mode & 0o777).toBe(0o600);
});

it('a role that cannot be written is logged once, and written as soon as it can be', async () => {
  await using here = await place();
  let isFull = true;
  let logged = '';
  const files: Effects['files'] = {
    ...effects.files,
    rename: async (...file) => {
      if (isFull) throw new Error('no room');
      return effects.files.rename(...file);
    },
  };
  const telling = createLogger({ write: (line: string) => ((logged += line), true) });
  const note = new RoleNote(here.data.scheduleRoleFile, storage.url, {
    effects: { ...effects, files },
    logger: telling,
  });
  for (const _ of [1, 2]) await note.report({ role: 'stands_by', error: 'away' });
  expect(logged.match(/cannot be written for `offerline status`/g)).toHaveLength(1);
  isFull = false;
  await note.report({ role: 'stands_by', error: 'away' });
  expect(readSchedule(here.data, { storage })).toMatchObject({ error: 'away' });
});

it('one that stands by while storage is away reports it at each look, and goes on looking', async () => {
  await using here = await place();
  using store = await ObjectStore.open(storage, { tries: 1, connect: 1_000, silence: 1_000 });
  const stop = new AbortController();
  const reported: ReportedRole[] = [];
  const reportRole = async (role: ReportedRole) => {
    if (reported.push(role) === 2) stop.abort();
  };
  const times = { ...leaseTimes, look: 1 };
  await WriterLease.acquire({ data: here.data, store, logger, effects, times, reportRole }, async () => 1, stop.signal);
  const error = 's3://bucket/network cannot read lease.json: no whole answer (ECONNREFUSED)';
  expect(reported).toEqual([
    { role: 'stands_by', error },
    { role: 'stands_by', error },
  ]);
});

it('a schedule that cannot begin, since storage is away, leaves word for status and doctor', slow, async () => {
  await using pipeline = await PipelineUnderTest.create(new Date(noon));
  const { data } = pipeline;
  await pipeline.refresh(noon);
  expect((await endOf(data.root, 'status')).stdout).toContain('no schedule runs here');
  await pipeline.configure({ storage: awayStorage });
  expect((await endOf(data.root, 'status')).code).toBe(0);
  expect((await offerline(data.root, 'schedule')).code).toBe(1);
  const { code, stdout, stderr } = await offerline(data.root, 'status');
  const trouble =
    /what ran here last could not use storage since .*: s3:\/\/bucket\/network cannot write .*ECONNREFUSED/;
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(trouble) as string });
  expect(stdout).toMatch(trouble);
  expect(stdout).toContain('no schedule runs here, nor does anything use s3://bucket/network');
  expect(stdout + stderr).not.toContain('secret+key');
  const { stdout: doctor } = await endOf(data.root, 'doctor');
  process.exitCode = exitCode.done;
  expect(doctor).toMatch(/TROUBLE {2}schedule: s3:\/\/bucket\/network what ran here last could not use storage/);
  await pipeline.configure({ storage: { ...awayStorage, secret_access_key: { env: 'NOT_THERE_AT_ALL' } } });
  expect((await offerline(data.root, 'schedule')).code).toBe(exitCode.usage);
  expect((await endOf(data.root, 'status')).stderr).toContain('the environment has no NOT_THERE_AT_ALL');
  await pipeline.configure({});
  expect((await endOf(data.root, 'status')).code).toBe(0);
});

it('of two schedules of one data directory on storage the second exits 3', async () => {
  await using pipeline = await PipelineUnderTest.create(new Date(noon), { settings: { storage: awayStorage } });
  const { data } = pipeline;
  const lock = await acquireSchedulerLock(data.storageScheduleLockFile);
  const { code, stderr } = await offerline(data.root, 'schedule');
  lock.release();
  expect({ code, stderr }).toEqual({
    code: exitCode.busy,
    stderr: expect.stringContaining('One scheduler works on a data directory.') as string,
  });
});
