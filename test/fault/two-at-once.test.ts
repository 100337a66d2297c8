import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm, symlink } from 'node:fs/promises';
import { expect, it, onTestFinished } from 'vitest';
import { launcher, offerline } from '../support/command-line.ts';
import { endOf } from '../support/commands.ts';
import { asOf, smallData } from '../e2e/small-data.ts';
import { slow } from '../support/slow.ts';

it('refreshes and a backfill at once run one by one, and nothing counts twice', slow, async () => {
  await using pipeline = await smallData();
  const commands = [
    ['run', 'refresh', '--as-of', asOf],
    ['run', 'refresh', '--as-of', asOf],
    ['backfill', 'reports', '--all'],
  ];
  const ended = await Promise.all(commands.map((words) => offerline(pipeline.data.root, ...words)));
  expect(ended.map(({ code, stderr }) => ({ code, stderr: code === 0 ? '' : stderr }))).toEqual(
    commands.map(() => ({ code: 0, stderr: '' })),
  );
  expect(ended.some(({ stderr }) => stderr.includes('Waiting up to 60 s for the warehouse'))).toBe(true);
  // One more to see the rows of all three, which are finished now.
  expect((await endOf(pipeline.data.root, 'run', 'refresh')).code).toBe(0);
  expect(
    await pipeline.ask(
      'SELECT count(*) AS overlaps FROM run_stages AS a JOIN run_stages AS b ON a.run_id < b.run_id AND b.started_at < a.finished_at',
    ),
  ).toEqual([{ overlaps: 0 }]);
  expect(await pipeline.ask('SELECT count(*) AS clicks FROM clicks')).toEqual([{ clicks: 20 }]);
  expect(await pipeline.ask('SELECT sum(accepted) AS accepted, count(*) AS files FROM ingest_files')).toEqual([
    { accepted: 23, files: 3 },
  ]);
});

it('of two trackers into one landing folder the second refuses to start, and the first goes on', slow, async () => {
  await using pipeline = await smallData({ lock_wait_seconds: 0 });
  const { root } = pipeline.data;
  // As another machine has it, by a shared file system.
  await using other = await smallData({ lock_wait_seconds: 0 });
  await rm(other.data.landing, { recursive: true });
  await symlink(pipeline.data.landing, other.data.landing);
  const first = spawn(launcher.executable, [...launcher.words, 'track', '--port', '0', '--json'], {
    env: { ...process.env, OFFERLINE_DATA: root },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(() => void first.kill('SIGKILL'));
  const ended = once(first, 'exit');
  const [told] = (await once(first.stdout, 'data')) as [Buffer];
  const { address } = JSON.parse(told.toString()) as { address: string };
  for (const [directory, shared] of [
    [root, 'data directory'],
    [other.data.root, 'landing folder'],
  ] as const) {
    const second = await offerline(directory, 'track', '--port', '0');
    expect({ ...second, stderr: '' }).toEqual({ code: 3, stdout: '', stderr: '' });
    expect(second.stderr).toContain(`\\"track\\" (process ${first.pid}, since `);
    expect(second.stderr).toContain(`One tracker works on a ${shared}`);
  }
  expect((await fetch(`${address}/healthz`)).status).toBe(200);
  first.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
});
