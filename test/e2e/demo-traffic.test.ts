import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished } from 'vitest';
import { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { pulledDemoSources } from '../../src/demo/demo-networks.ts';
import { generate } from '../../src/demo/generate/generate.ts';
import { ownLogs } from '../../src/tracker/logs/log-names.ts';
import { launcher, offerline } from '../support/command-line.ts';
import { command } from '../support/commands.ts';
import { slow } from '../support/slow.ts';

it('a demo lives: users click, advertisers report, publishers are rewarded', slow, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'offerline-demo-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const data = new DataDirectory(join(folder, 'data'));
  // As a demo is filled, but smaller, and with logs that land at once.
  await generate({
    out: data.root,
    seed: 1,
    clicks: 200,
    days: 1,
    end: new Date(),
    messy: false,
    pulled: pulledDemoSources,
    settings: { schedule: { refresh: { cron: '*/5 * * * *', watch: true } }, tracker: { hand_over_seconds: 1 } },
  });
  writeFileSync(data.demoTrafficFile, '{"clicks_per_second": 15, "conversion_after_seconds": [0.1, 2]}');
  const child = spawn(launcher.executable, [...launcher.words, 'start', '--demo', '--port', '0'], {
    env: { ...process.env, OFFERLINE_DATA: data.root },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stderr });
  let logged = '';
  lines.on('line', (line) => (logged += `${line}\n`));

  /** Reward of the first conversion that the demo's advertisers reported and a publisher was told of. */
  const rewarded = async () => {
    const listed = await command(data.root, 'postbacks', 'list', '--state', 'delivered', '--limit', '1000', '--json');
    const { postbacks } = JSON.parse(listed) as { postbacks: { conversion_id: string; reward: string }[] };
    return postbacks.find(({ conversion_id }) => conversion_id.includes(':demo-'))?.reward;
  };
  let reward: string | undefined;
  for await (const line of lines) {
    if (line.includes('rewards received by') && (reward = await rewarded()) !== undefined) break;
  }
  expect(reward, logged).toMatch(/^\d/);
  child.stderr.resume();

  const tried = await offerline(data.root, 'track', 'test', '101', '--site', 'coinquest', '--json');
  expect(tried, tried.stderr).toMatchObject({ code: 0 });
  expect(JSON.parse(tried.stdout)).toMatchObject({
    tracker: { own: false },
    published: { status: 'credited', offer_id: 101 },
    postback: { state: 'delivered', last_status: 200 },
    taken_back: '200',
  });
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  const logs = ownLogs(data, 'clicks').map(({ path }) => readFileSync(path, 'utf8'));
  const addresses = new Set(logs.join('').match(/"ip":"[^"]*"/g));
  // Only Linux gives users addresses of their own.
  expect(addresses.size).toBeGreaterThan(platform() === 'linux' ? 3 : 0);

  // Neither users nor tokens nor secrets stand in the log.
  const { sources } = JSON.parse(readFileSync(data.sourcesFile, 'utf8')) as {
    sources: { postback: { token: string } }[];
  };
  expect(sources).toHaveLength(5);
  for (const { postback } of sources) expect(logged).not.toContain(postback.token);
});
