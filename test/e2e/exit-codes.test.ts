import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { acquireWriterLock } from '../../src/pipeline/runs/lock.ts';
import { changeState } from '../support/change-state.ts';
import { offerline, type Ended } from '../support/command-line.ts';
import { endOf } from '../support/commands.ts';
import type { PipelineUnderTest } from '../support/pipeline-under-test.ts';
import { asOf, secrets, sites, smallData } from './small-data.ts';
import { slow } from '../support/slow.ts';

let pipeline: PipelineUnderTest;

/** Runs a command as a process of its own. It must tell no secret, on whatever path it ends. */
async function run(...words: string[]): Promise<Ended> {
  return withoutSecrets(words, await offerline(pipeline.data.root, ...words));
}

/** The same within this process, for further examples of what one process shows. */
async function runHere(...words: string[]): Promise<Ended> {
  return withoutSecrets(words, await endOf(pipeline.data.root, ...words));
}

function withoutSecrets(words: string[], ended: Ended): Ended {
  const told = secrets.filter((secret) => (ended.stdout + ended.stderr).includes(secret));
  if (told.length > 0) throw new Error(`\`offerline ${words.join(' ')}\` told ${told.join(', ')}`);
  return ended;
}

beforeAll(async () => {
  pipeline = await smallData();
  await pipeline.refresh(asOf);
});
afterAll(() => pipeline[Symbol.asyncDispose]());

async function changed(file: string, content: string, work: () => Promise<void>): Promise<void> {
  const before = await readFile(file);
  await writeFile(file, content);
  try {
    await work();
  } finally {
    await writeFile(file, before);
  }
}

describe('exit code 0', () => {
  it('with text for people, and with one JSON document on standard output for programs', slow, async () => {
    const text = await run('run', 'refresh', '--as-of', asOf);
    expect(text).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('no changes since the current snapshot') as string,
    });
    const asked: [how: typeof run, words: string[]][] = [
      [runHere, ['run', 'refresh', '--as-of', asOf]],
      [runHere, ['run', 'ingest', '--as-of', asOf]],
      [runHere, ['run', 'models', '--as-of', asOf]],
      [runHere, ['run', 'publish', '--as-of', asOf]],
      [run, ['status']],
      [runHere, ['sites', 'list']],
      [runHere, ['offers', 'held']],
      [runHere, ['runs']],
      [runHere, ['schedule', '--dry-run']],
      [runHere, ['backfill', 'reports', '--dry-run']],
      [runHere, ['run', 'maintenance', '--as-of', asOf]],
      [runHere, ['maintenance', 'landing', '--older-than', '1']],
    ];
    for (const [how, words] of asked) {
      const { code, stdout, stderr } = await how(...words, '--json');
      expect({ words, code, stderr: code === 0 ? '' : stderr }).toEqual({ words, code: 0, stderr: '' });
      expect(JSON.parse(stdout)).toBeTypeOf('object');
    }
  });

  it('with no secret in any file of the snapshot', async () => {
    const folder = join(pipeline.data.published, (await pipeline.snapshots()).current);
    const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
    expect(files.length).toBeGreaterThan(3);
    for (const file of files) {
      const bytes = await readFile(join(file.parentPath, file.name));
      for (const secret of secrets)
        expect({ file: file.name, told: bytes.includes(secret) }).toEqual({ file: file.name, told: false });
    }
  });

  it('for asking what there is', slow, async () => {
    expect(await run('--help')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Usage: offerline') as string,
    });
    expect(await runHere('run', 'refresh', '--help')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('--as-of') as string,
    });
  });
});

describe('exit code 2', () => {
  it.each([
    // What the library finds, and what we do.
    [['no-such-command'], 'no-such-command', run],
    [['backfill', 'reports', '--from', '2025-03-02', '--to', '2025-03-01'], '--from', runHere],
    [['run', 'no-such-stage'], 'no-such-stage', runHere],
    [['run', 'refresh', '--no-such-option'], '--no-such-option', runHere],
    [['run', 'refresh', '--as-of', 'yesterday'], '--as-of', runHere],
    [['run', 'refresh', '--as-of', '2025-03-10T12:00:00'], 'offset', runHere],
    [['serve', '--port', '70000'], '--port', runHere],
    [['backfill', 'reports', '--from', '2025-02-30'], '--from', runHere],
  ] as const)('for wrong usage: %j', async (words, told, how) => {
    const before = await pipeline.snapshots();
    const { code, stdout, stderr } = await how(...words, '--json');
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: expect.stringContaining(told) as string });
    expect(await pipeline.snapshots()).toEqual(before);
  });

  it('for an as-of older than what is published, unless that is wanted', slow, async () => {
    const before = await pipeline.snapshots();
    const older = '2025-03-10T11:00:00Z';
    expect(await runHere('run', 'refresh', '--as-of', older, '--json')).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('--allow-older') as string,
    });
    expect(await pipeline.snapshots()).toEqual(before);
    expect((await runHere('run', 'refresh', '--as-of', older, '--allow-older')).code).toBe(0);
    expect(await pipeline.ask('SELECT DISTINCT as_of FROM offer_stats_2d')).toEqual([{ as_of: older }]);
    await pipeline.refresh(asOf);
  });

  it.each([
    ['that is no JSON', '{"port": 80', run],
    ['with a key that is none', '{"prot": 8080}', runHere],
    ['with a value that cannot be', '{"snapshots_kept": 0}', runHere],
  ] as const)('for an offerline.json %s', async (_, content, how) => {
    const before = await pipeline.snapshots();
    await changed(pipeline.data.settingsFile, content, async () => {
      expect(await how('run', 'refresh', '--as-of', asOf, '--json')).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringContaining('offerline.json') as string,
      });
    });
    expect(await pipeline.snapshots()).toEqual(before);
  });

  it.each([
    ['that is no JSON', runHere, JSON.stringify({ sites }).slice(0, -3)],
    ['without a key', runHere, JSON.stringify({ sites: [{ site_secret: secrets[0] }] })],
    ['with one key twice', runHere, JSON.stringify({ sites: [sites[0], { ...sites[0], site_secret: secrets[1] }] })],
    ['with a secret in the wrong place', runHere, JSON.stringify({ sites: [{ ...sites[0], status: secrets[1] }] })],
    ['with a secret as a field', run, JSON.stringify({ sites: [{ ...sites[0], [secrets[1] as string]: 1 }] })],
  ] as const)('for a sites.json %s, and says no secret', async (_, how, content) => {
    const before = await pipeline.snapshots();
    await changed(pipeline.data.sitesFile, content, async () => {
      expect(await how('run', 'refresh', '--as-of', asOf, '--json')).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringContaining('sites.json') as string,
      });
    });
    expect(await pipeline.snapshots()).toEqual(before);
  });

  it('for a data directory that is not there', async () => {
    const nowhere = join(pipeline.data.root, 'nowhere');
    expect(await endOf(nowhere, 'run', 'refresh')).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('OFFERLINE_DATA') as string,
    });
  });
});

describe('exit code 3', () => {
  it('where another process holds the warehouse for longer than configured, naming it', async () => {
    const before = await pipeline.snapshots();
    const lock = await acquireWriterLock(pipeline.data, {
      command: 'a test',
      waitSeconds: 0,
      onWaiting: () => undefined,
    });
    try {
      await changed(pipeline.data.settingsFile, JSON.stringify({ lock_wait_seconds: 0 }), async () => {
        const { code, stdout, stderr } = await run('run', 'refresh', '--as-of', asOf, '--json');
        expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
        expect(stderr).toContain('a test');
        expect(stderr).toContain(String(process.pid));
      });
      expect((await runHere('status', '--json')).code).toBe(0);
    } finally {
      lock.release();
    }
    expect(await pipeline.snapshots()).toEqual(before);
    expect((await runHere('run', 'refresh', '--as-of', asOf)).code).toBe(0);
  });
});

describe('exit code 4', () => {
  it('nothing is published while the state disagrees with the events, by any command', slow, async () => {
    const before = await pipeline.snapshots();
    const figures = 'SELECT * EXCLUDE (as_of) FROM offer_stats_2d ORDER BY offer_id';
    const good = await pipeline.ask(figures);
    const later = '2025-03-10T12:30:00Z';
    await changeState(pipeline.data, 'UPDATE click_hourly SET clicks = clicks + 1');

    const { code, stdout, stderr } = await run('run', 'refresh', '--as-of', later, '--json');
    expect({ code, stdout }).toEqual({ code: 4, stdout: '' });
    expect(stderr).toContain('roll_up_equals_events');
    expect(stderr).toContain('Nothing was published');
    // What failed once is not taken as audited because it is there already, nor because another run computed it.
    expect((await runHere('run', 'refresh', '--as-of', later)).code).toBe(4);
    expect((await runHere('run', 'models', '--as-of', later)).code).toBe(0);
    expect((await runHere('run', 'publish', '--as-of', later)).code).toBe(4);
    expect(await pipeline.snapshots()).toEqual(before);
    expect(await pipeline.ask(figures)).toEqual(good);

    await changeState(pipeline.data, 'UPDATE click_hourly SET clicks = clicks - 1');
    const healed = await runHere('run', 'refresh', '--as-of', later, '--json');
    expect(healed.code).toBe(0);
    expect((await pipeline.snapshots()).current).toBe((JSON.parse(healed.stdout) as { snapshotId: string }).snapshotId);
    expect(await pipeline.ask(figures)).toEqual(good);
    expect(await pipeline.ask('SELECT sum(clicks) AS clicks FROM offer_hourly')).toEqual([{ clicks: 20 }]);
  });
});
