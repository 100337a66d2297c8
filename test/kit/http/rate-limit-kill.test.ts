import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import type { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { launcher } from '../../support/command-line.ts';
import { temporaryData, writeSites } from '../../support/published-snapshot.ts';
import { publishSmallNetwork } from '../../support/small-network.ts';
import { slow } from '../../support/slow.ts';

/** Starts `offerline serve` in a process of its own; returns its address and how to kill it. */
async function serveElsewhere(data: DataDirectory): Promise<{ address: string; kill: () => Promise<void> }> {
  const child = spawn(launcher.executable, [...launcher.words, 'serve', '--port', '0', '--json'], {
    env: { ...process.env, OFFERLINE_DATA: data.root },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = once(child, 'exit');
  const kill = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  onTestFinished(kill);
  let printed = '';
  for await (const chunk of child.stdout) {
    printed += String(chunk);
    const address = /"address":\s*"([^"]+)"/.exec(printed)?.[1];
    if (address !== undefined) return { address, kill };
  }
  throw new Error(`serve ended early: ${printed}`);
}

test('SIGKILL in the middle of a window does not refill it', slow, async () => {
  const { data, remove } = await temporaryData();
  onTestFinished(remove);
  await publishSmallNetwork(data);
  await writeSites(data, [{ site_key: 's', site_secret: 'a-long-enough-secret', rate_limit_per_hour: 4 }]);
  const left: (string | null)[] = [];
  for (let life = 0; life < 3; life++) {
    const { address, kill } = await serveElsewhere(data);
    for (let request = 0; request < 2; request++) {
      const { status, headers } = await fetch(`${address}/c/api/v1/offers?site_key=s&site_secret=a-long-enough-secret`);
      left.push(`${status} ${headers.get('x-ratelimit-remaining')}`);
    }
    await kill();
  }
  expect(left).toEqual(['200 3', '200 2', '200 1', '200 0', '429 0', '429 0']);
});
