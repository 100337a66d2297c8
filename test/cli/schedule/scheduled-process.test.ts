import { expect, it } from 'vitest';
import { scheduledProcesses } from '../../../src/cli/schedule/scheduled-process.ts';

const run = { pipeline: 'refresh', scheduledAt: '2026-11-18T12:00:00Z' };

/** Processes of a script that hears nothing from us but signals. */
function processes(script: string, endingMilliseconds?: number) {
  return scheduledProcesses(process.execPath, () => ['-e', script], { endingMilliseconds });
}

it('gives the exit code of each run', async () => {
  expect(await processes('process.exit(3)').start(run)).toBe(3);
});

it('asks a run to end, and starts none any more', async () => {
  const scheduled = processes(
    `process.on('SIGTERM', () => process.exit(7)); setInterval(() => {}, 1000); process.kill(process.ppid, 'SIGUSR2')`,
  );
  const ready = new Promise((resolve) => process.once('SIGUSR2', resolve));
  const ended = scheduled.start(run);
  await ready;
  await scheduled.stop();
  expect(await ended).toBe(7);
  expect(await scheduled.start(run)).toBeNull();
});

it('kills a run that does not end in time', async () => {
  const scheduled = processes(
    `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); process.kill(process.ppid, 'SIGUSR2')`,
    20,
  );
  const ready = new Promise((resolve) => process.once('SIGUSR2', resolve));
  const ended = scheduled.start(run);
  await ready;
  await scheduled.stop();
  expect(await ended).toBe('SIGKILL');
});
