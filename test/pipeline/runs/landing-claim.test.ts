import { existsSync } from 'node:fs';
import { mkdir, open, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import type { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { exitCode } from '../../../src/kit/errors/errors.ts';
import { realEffects } from '../../../src/kit/files/effects.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { claimLanding } from '../../../src/pipeline/runs/landing-claim.ts';
import { temporaryData } from '../../support/published-snapshot.ts';

let log: string[];
let one: DataDirectory;
let other: DataDirectory;

/** Two machines that share a landing folder. */
beforeEach(async () => {
  log = [];
  [one, other] = (await Promise.all(
    [1, 2].map(async () => {
      const { data, remove } = await temporaryData();
      onTestFinished(remove);
      await mkdir(data.warehouse, { recursive: true });
      return data;
    }),
  )) as [DataDirectory, DataDirectory];
  await mkdir(one.landing);
  await symlink(one.landing, other.landing);
});

const claim = (data: DataDirectory, storage: string | undefined, files = realEffects.files) =>
  claimLanding(data, storage, createLogger({ write: (line: string) => Boolean(log.push(line)) }), files);
/** What a machine remembers that has published there. */
const publishedTo = ({ storageMemory }: DataDirectory, url: string) =>
  writeFile(storageMemory, JSON.stringify({ url }));
const marked = async () => JSON.parse(await readFile(one.landingClaimFile, 'utf8')) as unknown;
const refused = (what: RegExp) => ({ exitCode: exitCode.usage, message: expect.stringMatching(what) as string });

it('machines of one storage share it, one of another storage or of none is refused', async () => {
  await claim(one, 's3://bucket/one');
  expect(await marked()).toMatchObject({ storage: 's3://bucket/one' });
  await claim(other, 's3://bucket/one/');
  await expect(claim(other, 's3://bucket/two')).rejects.toMatchObject(
    refused(/publish to s3:\/\/bucket\/one, and .* names s3:\/\/bucket\/two: .*remove .*\.offerline-storage\.json/),
  );
  await expect(claim(other, undefined)).rejects.toMatchObject(refused(/names no storage/));
});

it('a machine that moves on takes the mark along, and the one that it left behind is refused', async () => {
  await claim(one, 's3://bucket/wrong');
  await claim(one, 's3://bucket/one');
  await publishedTo(other, 's3://bucket/one');
  await claim(one, 's3://bucket/two');
  await publishedTo(one, 's3://bucket/two');
  await expect(claim(other, 's3://bucket/one')).rejects.toMatchObject(refused(/publish to s3:\/\/bucket\/two/));
  await claim(other, 's3://bucket/two');
  await publishedTo(other, 's3://bucket/two');
  await claim(other, undefined);
  expect(existsSync(one.landingClaimFile)).toBe(false);
});

it('a mark is replaced whole, so that who reads it meanwhile has the one before', async () => {
  await claim(one, 's3://bucket/one');
  const before = await open(one.landingClaimFile);
  await claim(one, 's3://bucket/two');
  expect(JSON.parse(await before.readFile('utf8'))).toMatchObject({ storage: 's3://bucket/one' });
  await before.close();
  expect(await marked()).toMatchObject({ storage: 's3://bucket/two' });
  expect(await readdir(one.landing)).toEqual(['.offerline-storage.json']);
});

it('without storage, or without a landing folder, nothing is written', async () => {
  await claim(one, undefined);
  expect(existsSync(one.landingClaimFile)).toBe(false);
  const { data, remove } = await temporaryData();
  onTestFinished(remove);
  await claim(data, 's3://bucket/one');
  expect(existsSync(data.landing)).toBe(false);
});

it('a folder that cannot be written draws a warning where storage is configured, and no error', async () => {
  const denied = Object.assign(new Error('denied'), { code: 'EACCES' });
  const files = { ...realEffects.files, writeFile: () => Promise.reject(denied) };
  await claim(one, undefined, files);
  expect(log).toEqual([]);
  await claim(one, 's3://bucket/one', files);
  expect(log).toEqual([
    expect.stringMatching(/"level":"warn".*publish to s3:\/\/bucket\/one; the run goes on.*let this user/),
  ]);
  // Somebody else has marked it, or it is writable again.
  await claim(one, 's3://bucket/one');
  await claim(one, 's3://bucket/one', files);
  expect(log).toHaveLength(1);
});
