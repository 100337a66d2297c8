import { link, readFile, rm, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import type { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { manifestText, schemaVersion } from '../../../src/pipeline/snapshot/manifest.ts';
import { DamagedSnapshotError, verifySnapshot } from '../../../src/pipeline/snapshot/verify.ts';
import { feedOffer, flipBit, temporaryData, writeSnapshot } from '../../support/published-snapshot.ts';

let data: DataDirectory;
let folder: string;
const eventFile = 'events/clicks/dt=2026-11-19/part.parquet';

beforeEach(async () => {
  const temporary = await temporaryData();
  data = temporary.data;
  onTestFinished(temporary.remove);
  folder = await writeSnapshot(data, 'one', {
    offers: [feedOffer({ id: 1 })],
    files: { [eventFile]: 'PAR1 clicks PAR1', 'empty.ndjson': '' },
  });
});

test('a whole snapshot gives its manifest', async () => {
  const manifest = await verifySnapshot(folder);
  expect(manifest.snapshot_id).toBe('one');
  expect(Object.keys(manifest.files)).toContain(eventFile);
});

test('a flipped bit is found, also where the file was good before', async () => {
  await verifySnapshot(folder);
  await flipBit(join(folder, 'feed-offers.ndjson'));
  await expect(verifySnapshot(folder)).rejects.toThrow(/feed-offers\.ndjson does not have the SHA-256/);
});

test('a file cut short is named', async () => {
  await truncate(join(folder, eventFile), 5);
  await expect(verifySnapshot(folder)).rejects.toThrow(/part\.parquet has 5 bytes, the manifest says 16/);
});

test('a missing file is named', async () => {
  await rm(join(folder, 'feed-sites.json'));
  await expect(verifySnapshot(folder)).rejects.toThrow(/feed-sites\.json is missing/);
});

test('a missing manifest or folder is damage, not a crash of the reader', async () => {
  await rm(join(folder, 'manifest.json'));
  await expect(verifySnapshot(folder)).rejects.toThrow(DamagedSnapshotError);
  await expect(verifySnapshot(join(data.published, 'never'))).rejects.toThrow(/manifest\.json is missing/);
});

test('a torn manifest and one of another version are refused', async () => {
  const file = join(folder, 'manifest.json');
  const text = await readFile(file, 'utf8');
  await writeFile(file, text.slice(0, text.length / 2));
  await expect(verifySnapshot(folder)).rejects.toThrow(/manifest\.json cannot be used/);
  await writeFile(file, JSON.stringify({ ...JSON.parse(text), schema_version: schemaVersion + 1 }));
  await expect(verifySnapshot(folder)).rejects.toThrow(/newer version of offerline/);
});

test('a manifest cannot name files outside of its folder', async () => {
  const file = join(folder, 'manifest.json');
  const manifest = JSON.parse(await readFile(file, 'utf8'));
  manifest.files['../one/empty.ndjson'] = manifest.files['empty.ndjson'];
  delete manifest.manifest_sha256;
  await writeFile(file, manifestText(manifest));
  await expect(verifySnapshot(folder)).rejects.toThrow(/outside of the folder/);
});

test('a write-ahead log beside the database is refused', async () => {
  await writeFile(join(folder, 'analytics.duckdb.wal'), '');
  await expect(verifySnapshot(folder)).rejects.toThrow(/analytics\.duckdb\.wal/);
});

test('a file shared with an earlier snapshot is not read again', async () => {
  const moment = new Date('2026-11-19T00:00:00Z');
  await utimes(join(folder, eventFile), moment, moment);
  await verifySnapshot(folder);
  const next = await writeSnapshot(data, 'two', { offers: [], files: { [eventFile]: 'PAR1 clicks PAR1' } });
  await rm(join(next, eventFile));
  await link(join(folder, eventFile), join(next, eventFile));
  // The same inode, size and time with other bytes: only who reads the file again would notice.
  await flipBit(join(folder, eventFile));
  await utimes(join(folder, eventFile), moment, moment);
  await expect(verifySnapshot(next)).resolves.toMatchObject({ snapshot_id: 'two' });
});
