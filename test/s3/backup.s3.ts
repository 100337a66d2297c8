import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { digestsBelow, smallBackedUpNetwork } from '../support/backed-up.ts';
import { endOf } from '../support/commands.ts';
import type { PipelineUnderTest } from '../support/pipeline-under-test.ts';
import { bucketName, Moto } from './store/moto.ts';

let moto: Moto;
let pipeline: PipelineUnderTest;
let work: string;

beforeAll(async () => {
  moto = await Moto.start();
  await moto.createBucket();
  pipeline = await smallBackedUpNetwork();
  // Several parts of an upload.
  await writeFile(join(pipeline.data.landing, 'clicks', 'large.ndjson'), randomBytes(40 * 2 ** 20));
  work = await mkdtemp(join(tmpdir(), 'offerline-backup-'));
});

afterAll(async () => {
  await pipeline[Symbol.asyncDispose]();
  await rm(work, { recursive: true });
  await moto[Symbol.asyncDispose]();
});

beforeEach(() => {
  vi.stubEnv('AWS_ENDPOINT_URL_S3', moto.url);
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'any');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'the-secret-of-the-bucket');
});

afterEach(() => {
  vi.unstubAllEnvs();
});

test('a backup in object storage is what a backup in a file is, and gets a name below a prefix', async () => {
  const { root } = pipeline.data;
  const written = await endOf(root, 'backup', `s3://${bucketName}/backups/`, '--json');
  expect(written.code, written.stderr).toBe(0);
  const { backup } = JSON.parse(written.stdout) as { backup: string };
  expect(backup).toMatch(new RegExp(`^s3://${bucketName}/backups/offerline-\\d{8}T\\d{6}Z\\.tar$`));
  const restored = await endOf('nowhere', 'restore', backup, '--into', join(work, 'object'));
  expect(restored.code, restored.stderr).toBe(0);

  expect(await endOf(root, 'backup', join(work, 'file.tar'))).toMatchObject({ code: 0 });
  expect(await endOf('nowhere', 'restore', join(work, 'file.tar'), '--into', join(work, 'file'))).toMatchObject({
    code: 0,
  });
  const [object, file] = [await digestsBelow(join(work, 'object')), await digestsBelow(join(work, 'file'))];
  expect(Object.keys(object)).toEqual(Object.keys(file));
  const isCopy = (path: string) => path.endsWith('.duckdb') || path.endsWith('.sqlite');
  for (const path of Object.keys(file).filter((each) => !isCopy(each))) expect(object[path], path).toBe(file[path]);

  expect(await endOf(root, 'backup', backup)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('exists already') as string,
  });
});

test('a bucket or object that is not there, and a store that is away, are named without a secret', async () => {
  const { root } = pipeline.data;
  const none = await endOf('nowhere', 'restore', `s3://${bucketName}/none.tar`, '--into', join(work, 'none'));
  expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('there is no backup s3://') as string });
  const unknown = await endOf(root, 'backup', 's3://no-such-bucket/network.tar');
  expect(unknown.code).toBe(1);
  await moto.put('cut.tar', Buffer.alloc(2048));
  const cut = await endOf('nowhere', 'restore', `s3://${bucketName}/cut.tar`, '--into', join(work, 'cut'));
  expect(cut).toMatchObject({ code: 1, stderr: expect.stringContaining('is broken') as string });
  expect(await readdir(join(work, 'cut'))).toEqual([]);
  vi.stubEnv('AWS_ENDPOINT_URL_S3', 'http://127.0.0.1:9');
  const away = await endOf(root, 'backup', `s3://${bucketName}/away.tar`);
  expect(away).toMatchObject({ code: 1, stderr: expect.stringContaining(`s3://${bucketName}/away.tar`) as string });
  for (const { stderr, stdout } of [none, unknown, cut, away])
    expect(stderr + stdout).not.toContain('the-secret-of-the-bucket');
  expect(await readdir(pipeline.data.warehouse)).not.toContain('backup');
});
