import { mkdir, rm, symlink } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { readSettings } from '../../../src/kit/config/settings.ts';
import type { DiskState } from '../../../src/pipeline/doctor/examine-machine.ts';
import { acquireSchedulerLock } from '../../../src/cli/schedule/schedule.ts';
import { readStatus, type Status } from '../../../src/pipeline/status/status.ts';
import { PipelineUnderTest } from '../../support/pipeline-under-test.ts';
import { sharedPipeline } from '../../support/shared-pipeline.ts';

const noon = '2026-03-10T12:00:00Z';
const mebibyte = 1024 * 1024;

const published = sharedPipeline(async () => {
  const pipeline = await PipelineUnderTest.create(new Date(noon));
  await pipeline.refresh(noon);
  return pipeline;
});

/** A disk with so much room, that takes so many files more. */
function diskWith(free: number, ffree = 1000, files = 2000): DiskState {
  return {
    room: async () => ({ bavail: free / 4096, bsize: 4096, files, ffree }),
    assertWritable: async () => {},
  };
}

/** A disk of much room, whose folders for which `isRefused` is true cannot be written. */
function diskRefusing(code: string, isRefused: (folder: string) => boolean = () => true): DiskState {
  return {
    ...diskWith(2 ** 40),
    async assertWritable(folder) {
      if (isRefused(folder)) throw Object.assign(new Error(`${code}: access '${folder}'`), { code });
    },
  };
}

function statusOn({ data }: PipelineUnderTest, disk: DiskState): Promise<Status> {
  return readStatus(data, readSettings(data), Date.parse(noon), disk);
}

it.each([
  ['without room', diskWith(0), /has 0 MiB of room, so every run fails.*: free some room: `offerline maintenance/],
  ['that can hold no file more', diskWith(2 ** 40, 0), /can hold no file more, so every run fails.*: remove some/],
  ['mounted read-only', diskRefusing('EROFS'), /warehouse cannot be written \(EROFS\): the file system is read-only/],
  ['of another user', diskRefusing('EACCES'), /warehouse cannot be written \(EACCES\): let the user who runs/],
])('status fails on a disk %s, where no run can note its failure', async (_, disk, reason) => {
  const status = await statusOn(await published(), disk);
  expect(status.alarms).toContainEqual(expect.stringMatching(reason));
  expect(status.to_do).toContainEqual({
    what: expect.stringMatching(reason) as string,
    command: 'offerline doctor',
    alarm: true,
  });
});

it.each([
  ['less room than a run may need', diskWith(200 * mebibyte), /has 200 MiB of room, a run may need/],
  ['a data directory in which only landing is written by others', rootRefused(), /cannot be written \(EACCES\)/],
])('status warns of %s, by which a run need not fail', async (_, disk, warning) => {
  const status = await statusOn(await published(), disk);
  expect(status.alarms).toEqual([]);
  expect(status.machine).toEqual([expect.stringMatching(warning)]);
});

function rootRefused(): DiskState {
  return diskRefusing('EACCES', (folder) => !/\/(warehouse|published)$/.test(folder));
}

it('status has no alarm of a file system that counts no files', async () => {
  expect((await statusOn(await published(), diskWith(2 ** 40, 0, 0))).alarms).toEqual([]);
});

it('a machine that only serves what came from elsewhere needs no room, unless a schedule runs', async () => {
  const pipeline = await published();
  const { data } = pipeline;
  await rm(data.warehouse, { recursive: true });
  expect((await statusOn(pipeline, diskRefusing('EROFS'))).alarms).toEqual([]);
  await mkdir(data.warehouse);
  const lock = await acquireSchedulerLock(data.scheduleLockFile);
  expect((await statusOn(pipeline, diskRefusing('EROFS'))).alarms).not.toEqual([]);
  lock.release();
});

it('a warehouse that this user may not enter is none of a machine that only serves', async () => {
  const pipeline = await published();
  const { warehouse } = pipeline.data;
  await rm(warehouse, { recursive: true });
  // It leads to itself, so that nobody enters it; root enters each folder.
  await symlink(warehouse, warehouse);
  const { alarms } = await statusOn(pipeline, diskRefusing('EACCES'));
  expect(alarms).toContainEqual(expect.stringContaining(`${warehouse} cannot be written (EACCES)`));
});

it('a machine that follows storage fails its status where it can take no snapshot', async () => {
  const pipeline = await published();
  const { data } = pipeline;
  await rm(data.stateFile);
  await pipeline.configure({
    storage: { url: 's3://bucket/network', follow: true, access_key_id: 'i', secret_access_key: 'very/secret+key' },
  });
  expect((await statusOn(pipeline, diskWith(200 * mebibyte))).alarms).toEqual([]);
  expect((await statusOn(pipeline, diskWith(0))).alarms).not.toEqual([]);
});
