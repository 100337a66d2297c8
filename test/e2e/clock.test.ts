import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { readRecentRuns } from '../../src/pipeline/runs/recent-runs.ts';
import { launcher } from '../support/command-line.ts';
import { command, endOf, usageErrorOf } from '../support/commands.ts';
import { asOf, clicks, smallData } from './small-data.ts';
import { slow } from '../support/slow.ts';

const future = '2999-01-01T00:00:00Z';

it('an as-of ahead of the clock is refused by every command that takes one, with nothing changed', async () => {
  await using pipeline = await smallData();
  await pipeline.refresh(asOf);
  const runs = readRecentRuns(pipeline.data);
  for (const name of ['refresh', 'ingest', 'models', 'publish', 'maintenance']) {
    expect([name, await usageErrorOf(pipeline.data.root, 'run', name, '--as-of', future, '--allow-older')]).toEqual([
      name,
      expect.stringMatching(/as-of 2999-01-01T00:00:00Z is ahead of this machine's clock.*--allow-future/),
    ]);
  }
  expect(readRecentRuns(pipeline.data)).toEqual(runs);
});

it('one that was allowed is reported, stops the schedule, and is repaired by the doctor', slow, async () => {
  await using pipeline = await smallData({ schedule: { refresh: '* * * * * *', postbacks: null, maintenance: null } });
  const { root } = pipeline.data;
  await pipeline.refresh(asOf);
  await pipeline.landOffers('net', [
    { id: 1, external_id: 'one', title: 'One', payout: '2.5' },
    { id: 2, external_id: 'two', title: 'Two', payout: '0.25' },
  ]);
  await command(root, 'run', 'refresh', '--as-of', future, '--allow-future');

  const advice =
    'set the clock where it is wrong; where it is right, `offerline doctor --repair` moves future timestamps back to now';
  expect(await endOf(root, 'status')).toMatchObject({ code: 1, stderr: expect.stringContaining(advice) as string });
  for (const words of [
    ['run', 'refresh'],
    ['run', 'refresh', '--allow-older'],
    ['backfill', 'reports'],
  ]) {
    expect(await usageErrorOf(root, ...words)).toContain(advice);
  }
  const { runs } = readRecentRuns(pipeline.data);
  const scheduler = spawn(launcher.executable, [...launcher.words, 'schedule'], {
    env: { ...process.env, OFFERLINE_DATA: root },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  onTestFinished(() => void scheduler.kill('SIGKILL'));
  let told = '';
  for await (const text of scheduler.stderr.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    told += text as string;
    if (
      told.split(`no refresh is started: the published snapshot is ahead of this machine's clock; ${advice}`).length > 2
    )
      break;
  }
  scheduler.stderr.resume();
  scheduler.kill('SIGTERM');
  expect(await once(scheduler, 'exit')).toEqual([0, null]);
  expect(readRecentRuns(pipeline.data).runs).toEqual(runs);

  const repaired = await endOf(root, 'doctor', '--repair', '--json');
  expect({ code: repaired.code, ...(JSON.parse(repaired.stdout) as object) }).toMatchObject({
    code: 0,
    left: 0,
    snapshot_id: expect.any(String) as string,
  });
  expect(await command(root, 'status')).toMatch(/^snapshot .*, (just now|\d+ s ago)$/m);

  const now = new Date().toISOString();
  await pipeline.landLog('clicks', 'ndjson', clicks('today', 1, now));
  await pipeline.landLog('conversions', 'ndjson', [
    { conversion_id: 'today', click_id: 'today-0', kind: 'credit', occurred_at: now },
  ]);
  await command(root, 'run', 'refresh');
  expect(
    await pipeline.ask(
      `SELECT offers.payout AS shown, conversions.payout AS credited FROM conversions JOIN offers USING (offer_id) WHERE conversion_id = 'today'`,
    ),
  ).toEqual([{ shown: '2.500000', credited: '2.500000' }]);
});
