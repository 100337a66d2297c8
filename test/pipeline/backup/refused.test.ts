import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { extract, pack } from 'tar-stream';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { Random } from '../../../src/demo/generate/network/random.ts';
import { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { realEffects, type Effects } from '../../../src/kit/files/effects.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { noProgress } from '../../../src/kit/logging/progress.ts';
import { BackupFile } from '../../../src/pipeline/backup/backup-place.ts';
import { restoreBackup } from '../../../src/pipeline/backup/restore-backup.ts';
import { acquireWriterLock } from '../../../src/pipeline/runs/lock.ts';
import { digestsBelow, smallBackedUpNetwork } from '../../support/backed-up.ts';
import { command, endOf } from '../../support/commands.ts';
import { failingAfter } from '../../support/failing-after.ts';
import type { PipelineUnderTest } from '../../support/pipeline-under-test.ts';
import { slow } from '../../support/slow.ts';

let pipeline: PipelineUnderTest;
let work: string;
let backup: string;
let whole: Record<string, string>;

beforeAll(async () => {
  pipeline = await smallBackedUpNetwork();
  work = await mkdtemp(join(tmpdir(), 'offerline-backup-'));
  backup = join(work, 'network.tar');
  await command(pipeline.data.root, 'backup', backup);
  await command('nowhere', 'restore', backup, '--into', join(work, 'whole'));
  whole = await digestsBelow(join(work, 'whole'));
});

afterAll(async () => {
  await pipeline[Symbol.asyncDispose]();
  await rm(work, { recursive: true });
});

/** The path of a folder that is not there yet. */
let folders = 0;
const newFolder = () => join(work, `restored-${++folders}`);

async function changed(change: (bytes: Buffer) => Buffer): Promise<string> {
  const path = join(work, `changed-${++folders}.tar`);
  await writeFile(path, change(await readFile(backup)));
  return path;
}

/** The backup with another manifest, sealed as a program of ours would. */
async function withManifest(change: (manifest: Record<string, unknown>) => void): Promise<string> {
  const archive = pack();
  const entries = extract();
  entries.end(await readFile(backup));
  for await (const entry of entries) {
    const chunks: Buffer[] = [];
    for await (const chunk of entry) chunks.push(chunk);
    let bytes = Buffer.concat(chunks);
    if (entry.header.name === 'offerline-backup.json') {
      const { manifest_sha256: _seal, ...manifest } = JSON.parse(bytes.toString()) as Record<string, unknown>;
      change(manifest);
      const seal = createHash('sha256').update(JSON.stringify(manifest)).digest('hex');
      bytes = Buffer.from(JSON.stringify({ ...manifest, manifest_sha256: seal }));
    }
    archive.entry({ ...entry.header, size: bytes.length }, bytes);
  }
  archive.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of archive) chunks.push(chunk);
  return changed(() => Buffer.concat(chunks));
}

test('a backup holds what the page says, readable for its owner, without the draft that it was made in', async () => {
  const names = Object.keys(whole);
  for (const name of ['sites.json', 'offerline.json', 'warehouse/state.duckdb', 'postbacks/deliveries.sqlite'])
    expect(names).toContain(name);
  expect(names.filter((name) => /lock|scratch|copies|spill|-wal$|-shm$|address\.json|replay\.key/.test(name))).toEqual(
    [],
  );
  expect(whole['published/current']).toBe(`-> ${(await pipeline.snapshots()).current}`);
});

test('a backup that is cut anywhere is refused, and leaves no file', async () => {
  const { length } = await readFile(backup);
  const random = new Random(1);
  for (const size of [0, 100, 512, 1536, ...Array.from({ length: 6 }, () => random.below(length - 2048))]) {
    const cut = await changed((bytes) => bytes.subarray(0, size));
    const into = newFolder();
    const ended = await endOf('nowhere', 'restore', cut, '--into', into);
    expect(ended, `cut to ${size}`).toMatchObject({ code: 1, stderr: expect.stringContaining('is broken') as string });
    expect(await readdir(into).catch(() => [])).toEqual([]);
  }
});

test('a byte that changed anywhere is noticed, or changes no file', slow, async () => {
  const random = new Random(2);
  let noticed = 0;
  for (let round = 0; round < 12; round++) {
    const flipped = await changed((bytes) => {
      const at = random.below(bytes.length);
      bytes.writeUInt8(bytes.readUInt8(at) ^ 0x10, at);
      return bytes;
    });
    const into = newFolder();
    const ended = await endOf('nowhere', 'restore', flipped, '--into', into);
    const isNoticed = ended.code === 1 && ended.stderr.includes('is broken');
    expect(await digestsBelow(into)).toEqual(isNoticed ? {} : whole);
    if (isNoticed) noticed++;
  }
  expect(noticed).toBeGreaterThan(6);
});

test('a backup of a newer version is refused by name, and so is one that leads out of the directory', async () => {
  const newer = await withManifest((manifest) => Object.assign(manifest['schemas'] as object, { state: 999 }));
  expect(await endOf('nowhere', 'restore', newer, '--into', newFolder())).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(
      /was written by offerline \d+\.\d+\.\d+ \(schema of state 999\); this is offerline \d/,
    ) as string,
  });
  const leading = await withManifest((manifest) => {
    Object.assign((manifest['members'] as object[])[0] as object, { path: '../sites.json' });
  });
  expect(await endOf('nowhere', 'restore', leading, '--into', newFolder())).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('leads out of the data directory') as string,
  });
  const other = await changed(() => Buffer.alloc(10_240, 'no backup at all '));
  expect(await endOf('nowhere', 'restore', other, '--into', newFolder())).toMatchObject({ code: 1 });
});

test.each(['restore: landing files to be left out', 'restore: landing files left out'])(
  'landing files that are left out stay so after an end at "%s"',
  async (step) => {
    const root = newFolder();
    await mkdir(join(root, 'landing/clicks'), { recursive: true });
    await writeFile(join(root, 'landing/clicks/own.ndjson'), '');
    const terminal = { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress };
    const restore = (effects: Effects) =>
      restoreBackup({ data: new DataDirectory(root), terminal, from: new BackupFile(backup, effects.files) }, effects);
    await expect(restore(failingAfter(step))).rejects.toThrow('made to fail');
    // Not even where there is room by now: a part of them may be gone.
    await rm(join(root, 'landing'), { recursive: true });
    expect(await restore(realEffects)).toMatchObject({ landing: false });
    expect(await readdir(root)).not.toContain('landing');
    expect((await readdir(root)).filter((name) => name.startsWith('.'))).toEqual([]);
  },
);

test('a directory that has anything but landing files is refused with their names, and landing files stay', async () => {
  const used = newFolder();
  await mkdir(used);
  await writeFile(join(used, 'sites.json'), 'mine');
  expect(await endOf('nowhere', 'restore', backup, '--into', used)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('is not empty: it has sites.json') as string,
  });
  expect(await readdir(used)).toEqual(['sites.json']);

  const landed = newFolder();
  await mkdir(join(landed, 'landing/clicks'), { recursive: true });
  await writeFile(join(landed, 'landing/clicks/own.ndjson'), '');
  const ended = await endOf('nowhere', 'restore', backup, '--into', landed, '--json');
  expect(JSON.parse(ended.stdout)).toMatchObject({ run_id: 1, landing: false });
  expect(await readdir(join(landed, 'landing/clicks'))).toEqual(['own.ndjson']);
  expect(await readdir(landed)).toEqual(expect.arrayContaining(['sites.json', 'warehouse', 'published']));
  expect((await readdir(landed)).filter((name) => name.startsWith('.'))).toEqual([]);

  // A mount point with files answers likewise when it is to be removed.
  const [linked, elsewhere] = [newFolder(), join(landed, 'landing')];
  await mkdir(linked);
  await symlink(elsewhere, join(linked, 'landing'));
  const beside = await endOf('nowhere', 'restore', backup, '--into', linked, '--json');
  expect(JSON.parse(beside.stdout)).toMatchObject({ run_id: 1, landing: false });
  expect(await readlink(join(linked, 'landing'))).toBe(elsewhere);
  expect((await readdir(linked)).filter((name) => name.startsWith('.'))).toEqual([]);
});

test('a place that cannot take a backup is refused before anything is read', async () => {
  const root = pipeline.data.root;
  expect(await endOf(root, 'backup', backup)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('exists already') as string,
  });
  expect(await endOf(root, 'backup', join(work, 'no/such/folder.tar'))).toMatchObject({ code: 2 });
  expect(await endOf(root, 'backup', 's3://b/x.tar')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('3 characters or more') as string,
  });
  expect(await endOf('nowhere', 'restore', join(work, 'none.tar'), '--into', newFolder())).toMatchObject({ code: 2 });
});

test('a backup waits for the run that holds the warehouse, and exits 3 where that does not end', async () => {
  await pipeline.configure({ lock_wait_seconds: 0 });
  onTestFinished(() => pipeline.configure({}));
  const lock = await acquireWriterLock(pipeline.data, { command: 'run refresh', waitSeconds: 0, onWaiting() {} });
  try {
    expect(await endOf(pipeline.data.root, 'backup', join(work, 'busy.tar'))).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('"run refresh"') as string,
    });
  } finally {
    lock.release();
  }
  expect(await readdir(work)).not.toContain('busy.tar');
});

test('secrets that configuration names elsewhere are listed, and no secret is', async () => {
  const settings = { tracker: { country_database: '/srv/countries.mmdb' } };
  await pipeline.configure(settings);
  await writeFile(
    pipeline.data.sourcesFile,
    JSON.stringify({ sources: [{ source: 'net', connector: 'tune', secrets: { api_key: { file: '/etc/net.key' } } }] }),
  );
  onTestFinished(async () => {
    await pipeline.configure({});
    await rm(pipeline.data.sourcesFile);
  });
  const ended = await endOf(pipeline.data.root, 'backup', join(work, 'secrets.tar'), '--json');
  expect(JSON.parse(ended.stdout)).toMatchObject({
    not_included: [
      'the file /etc/net.key (sources.json sources[0] secrets api_key)',
      'the file /srv/countries.mmdb (offerline.json tracker.country_database)',
    ],
  });
  expect(ended.stdout + ended.stderr).not.toContain('a secret of the backup');
});

test('a broken sites.json or sources.json is in the backup as it is, and no part of it is shown', async () => {
  const { sitesFile, sourcesFile, root } = pipeline.data;
  const sites = await readFile(sitesFile);
  onTestFinished(async () => {
    await writeFile(sitesFile, sites);
    await rm(sourcesFile);
  });
  const broken = '{"sites": [{"site_secret": s3cr3t-9f8e7d6c}]}';
  for (const file of [sitesFile, sourcesFile]) await writeFile(file, broken);
  const ended = await endOf(root, 'backup', join(work, 'broken.tar'), '--json');
  expect(JSON.parse(ended.stdout)).toMatchObject({
    not_included: [
      'what sites.json refers to (sites.json is not valid JSON in line 1, column 28: keys and texts are between double quotes)',
      'what sources.json refers to (sources.json is not valid JSON in line 1, column 28: keys and texts are between double quotes)',
    ],
  });
  expect(ended.stdout + ended.stderr).not.toContain('s3cr3t');
  const into = newFolder();
  await command('nowhere', 'restore', join(work, 'broken.tar'), '--into', into);
  expect(await readFile(join(into, 'sites.json'), 'utf8')).toBe(broken);
});

test('a damaged file of the warehouse ends the backup with its name, and nothing is written', async () => {
  const [event] = Object.keys(whole).filter((name) => name.startsWith('warehouse/events/'));
  const path = join(pipeline.data.root, event as string);
  const bytes = await readFile(path);
  // In place: snapshots share the file.
  await truncate(path, 0);
  await writeFile(path, Buffer.from(bytes).fill(0, 8, 16));
  onTestFinished(() => writeFile(path, bytes));
  expect(await endOf(pipeline.data.root, 'backup', join(work, 'damaged.tar'))).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('has changed since its digest was taken') as string,
  });
  expect((await readdir(work)).filter((name) => name.startsWith('damaged'))).toEqual([]);
});
