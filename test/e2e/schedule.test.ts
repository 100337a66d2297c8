import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readRecentRuns } from '../../src/pipeline/runs/recent-runs.ts';
import { launcher } from '../support/command-line.ts';
import { endOf } from '../support/commands.ts';
import { asOf, clicks, smallData } from './small-data.ts';
import { slow } from '../support/slow.ts';

// SIGHUP comes where the terminal is closed: whoever started the schedule by hand has gone.
it.each(['SIGTERM', 'SIGHUP'] as const)(
  'runs what is due in processes of its own, and ends at %s after the step',
  slow,
  async (signal) => {
    await using pipeline = await smallData();
    const { root } = pipeline.data;
    const child = spawn(launcher.executable, [...launcher.words, 'schedule'], {
      env: { ...process.env, OFFERLINE_DATA: root },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let told = '';
    for await (const text of child.stderr.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
      told += text as string;
      if (told.includes('refresh begins')) break;
    }
    child.stderr.resume();
    const ended = once(child, 'exit');
    const second = await endOf(root, 'schedule');
    expect(second).toMatchObject({ code: 3, stderr: expect.stringContaining(`process ${child.pid}`) as string });

    child.kill(signal);
    expect(await ended).toEqual([0, null]);
    // However far it came: every stage is done, was not begun, or was interrupted, the last one.
    const { runs } = readRecentRuns(pipeline.data);
    expect(runs).toHaveLength(1);
    expect(['done', 'interrupted']).toContain(runs[0]?.status);
    expect(runs[0]?.scheduled_at).toMatch(/:[0-5][05]:00Z$/);
    const unfinished = runs[0]?.stages.filter(({ status }) => status !== 'done').map(({ status }) => status);
    expect([[], ['interrupted']]).toContainEqual(unfinished);
    expect((await endOf(root, 'run', 'refresh')).code).toBe(0);
  },
);

it.each([
  ['a file as soon as it has landed where the refresh watches', { watch: true }, 'clicks'],
  ['a log as soon as the tracker has handed it over', {}, 'clicks/tracker'],
])('takes in %s', slow, async (_, watch, folder) => {
  // Nothing else begins a run.
  const refresh = { cron: '0 0 1 1 *', catch_up: 'none', ...watch };
  await using pipeline = await smallData({ schedule: { refresh, postbacks: null } });
  const { data } = pipeline;
  await pipeline.refresh(asOf);
  const child = spawn(launcher.executable, [...launcher.words, 'schedule'], {
    env: { ...process.env, OFFERLINE_DATA: data.root },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let told = '';
  const until = async (words: string) => {
    for await (const text of child.stderr.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
      told += text as string;
      if (told.includes(words)) return;
    }
    throw new Error(`the scheduler ended: ${told}`);
  };
  await until('watching landing');
  // In a folder that was not there before, and under another name first.
  const day = join(data.landing, folder, new Date().toISOString().slice(0, 10));
  await mkdir(day, { recursive: true });
  const lines = clicks('fresh', 7, '2025-03-10T11:30:00Z').map((click) => `${JSON.stringify(click)}\n`);
  await writeFile(join(day, 'fresh.ndjson.part'), lines.join(''));
  await rename(join(day, 'fresh.ndjson.part'), join(day, 'fresh.ndjson'));
  await until('done: publish');
  expect(await pipeline.ask('SELECT count(*) AS clicks FROM clicks')).toEqual([{ clicks: 27 }]);
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
});

it('pulls a source that sources.json names since the schedule has begun', slow, async () => {
  await using pipeline = await smallData({ schedule: { refresh: null, postbacks: null, maintenance: null } });
  const { data } = pipeline;
  const child = spawn(launcher.executable, [...launcher.words, 'schedule'], {
    env: { ...process.env, OFFERLINE_DATA: data.root },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let logged = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (logged += text));
  // A schedule of nothing says nothing: its lock shows that it has begun.
  await expect.poll(() => existsSync(data.scheduleLockFile), { timeout: 30_000 }).toBe(true);
  const north = { source: 'north', connector: 'everflow', secrets: { api_key: 'k'.repeat(20) }, every: '0 0 1 1 *' };
  const source = { ...north, base_url: 'http://127.0.0.1:9' };
  await writeFile(data.sourcesFile, JSON.stringify({ sources: [source] }), { mode: 0o600 });
  await expect.poll(() => logged, { timeout: 30_000 }).toContain('"source":"north"');
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
});
