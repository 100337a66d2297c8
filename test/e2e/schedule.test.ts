import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { readRecentRuns } from '../../src/runs/recent-runs.ts';
import { nodeArguments, offerline } from '../support/command-line.ts';
import { smallData } from './small-data.ts';

it('runs what is due in processes of its own, alone on its data directory, and at SIGTERM leaves after the step', async () => {
  await using pipeline = await smallData();
  const { root } = pipeline.data;
  const child = spawn(
    process.execPath,
    [...nodeArguments, fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url)), 'schedule'],
    {
      env: { ...process.env, OFFERLINE_DATA: root },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  onTestFinished(() => void child.kill('SIGKILL'));
  let told = '';
  for await (const text of child.stderr.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    told += text as string;
    if (told.includes('refresh begins')) break;
  }
  child.stderr.resume();
  const ended = once(child, 'exit');
  const second = await offerline(root, 'schedule');
  expect(second).toMatchObject({ code: 3, stderr: expect.stringContaining(`process ${child.pid}`) as string });

  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  // However far it came: every stage is either done or was not begun.
  const { runs } = readRecentRuns(pipeline.data);
  expect(runs).toHaveLength(1);
  expect(['done', 'interrupted']).toContain(runs[0]?.status);
  expect(runs[0]?.scheduled_at).toMatch(/:[0-5][05]:00Z$/);
  expect(runs[0]?.stages.every(({ status }) => status === 'done')).toBe(true);
  expect((await offerline(root, 'run', 'refresh')).code).toBe(0);
});
