import { mkdir, writeFile } from 'node:fs/promises';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import type { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { storageSchema } from '../../../src/kit/config/storage-settings.ts';
import { realEffects } from '../../../src/kit/files/effects.ts';
import type { StoredPointer } from '../../../src/fleet/storage/pointer.ts';
import { assertFollowsOnSeen, ForkedPointerError, rememberSeen } from '../../../src/fleet/storage/seen-pointer.ts';
import { StorageError } from '../../../src/fleet/storage/object-store.ts';
import { readSyncState, writeSyncState } from '../../../src/fleet/storage/writer/sync-state.ts';
import { temporaryData } from '../../support/published-snapshot.ts';

const url = 's3://bucket/network';
const stored: StoredPointer = {
  etag: 'one',
  pointer: {
    version: 1,
    epoch: 1,
    run_id: 3,
    serial: 7,
    swap: 'b'.repeat(8),
    previous: [],
    snapshots: [],
    state: null,
  },
};

let data: DataDirectory;
beforeEach(async () => {
  const temporary = await temporaryData();
  onTestFinished(temporary.remove);
  data = temporary.data;
});

it('what a machine has seen of its storage is named where it cannot be read, and nothing is followed', async () => {
  await rememberSeen(data, url, stored.pointer, realEffects);
  expect(() => assertFollowsOnSeen(data, url, stored)).not.toThrow();
  await writeFile(data.seenPointerFile, '{"url":"s3://buck');
  expect(() => assertFollowsOnSeen(data, url, stored)).toThrow(ForkedPointerError);
  expect(() => assertFollowsOnSeen(data, url, stored)).toThrow(/storage-seen\.json cannot be read.*remove that file/);
});

it('a slash at the end of its address makes no other storage, also in notes of an earlier version', async () => {
  await mkdir(data.warehouse);
  const known = { state: { blocks: [], files: {} }, digests: [] };
  await writeSyncState(data, { url: `${url}/`, stored, known }, realEffects);
  await rememberSeen(data, `${url}/`, stored.pointer, realEffects);
  const settings = storageSchema.parse({ url: `${url}/` });
  expect(settings.url).toBe(url);
  expect(readSyncState(data, settings.url)).toMatchObject({ url, stored });
  const older = { ...stored, pointer: { ...stored.pointer, serial: 6 } };
  expect(() => assertFollowsOnSeen(data, settings.url, older)).toThrow('has gone back');
});

it('what a machine knows of its storage is named where it was cut', async () => {
  await mkdir(data.warehouse);
  const known = { state: { blocks: [], files: {} }, digests: [] };
  await writeSyncState(data, { url, stored, known }, realEffects);
  expect(readSyncState(data, url)).toMatchObject({ stored });
  await writeFile(data.storageMemory, '{"url":"s3://buck');
  expect(() => readSyncState(data, url)).toThrow(StorageError);
  expect(() => readSyncState(data, url)).toThrow(/storage\.json, what this machine knows .*: move it away/);
});
