import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { launcher } from '../support/command-line.ts';
import { slow } from '../support/slow.ts';

it('the console gives way to publishers with all of its threads', slow, async (context) => {
  if (!existsSync('/proc/self/task')) context.skip('only Linux tells the priority of threads');
  const folder = mkdtempSync(join(tmpdir(), 'offerline-console-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const child = spawn(launcher.executable, [...launcher.words, 'console', '--port', '0', '--json'], {
    env: { ...process.env, OFFERLINE_DATA: folder },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  const threads = readdirSync(`/proc/${child.pid}/task`);
  // The seventeenth field behind the name, which may have spaces in it.
  const priorities = threads.map((thread) =>
    Number(readFileSync(`/proc/${child.pid}/task/${thread}/stat`, 'utf8').split(') ')[1]?.split(' ')[16]),
  );
  expect(priorities.length).toBeGreaterThan(4);
  expect(new Set(priorities)).toEqual(new Set([10]));
});
