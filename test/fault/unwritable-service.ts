import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import type { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { launcher } from '../support/command-line.ts';

/** Starts a command; without an address where it ends before it listens. */
async function begun(data: DataDirectory, command: 'serve' | 'start') {
  const child = spawn(launcher.executable, [...launcher.words, command, '--port', '0', '--json'], {
    env: { ...process.env, OFFERLINE_DATA: data.root },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let told = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (told += text));
  const ended = once(child, 'close');
  let answer = '';
  child.stdout.setEncoding('utf8');
  for await (const text of child.stdout) {
    answer += String(text);
    if (answer.includes('\n}')) break;
  }
  const address = answer === '' ? undefined : (JSON.parse(answer) as { address: string }).address;
  return { child, ended, address, log: () => told };
}

/**
 * Starts the service over a data directory whose disk takes nothing more. It must answer with what was published, count
 * requests against their limit, say that it counts them in memory, and end well. Gives what went wrong.
 */
export async function serviceProblems(data: DataDirectory): Promise<string[]> {
  const problems: string[] = [];
  const { child: service, ended, address, log } = await begun(data, 'serve');
  if (address === undefined) return [`it does not listen: ${log()}`];
  try {
    const ready = await fetch(`${address}/readyz`);
    if (ready.status !== 200) problems.push(`/readyz says ${ready.status}: ${await ready.text()}`);
    const remaining = [await remainingAfter(address, data), await remainingAfter(address, data)];
    if (!(Number(remaining[0]) - 1 === Number(remaining[1])))
      problems.push(`requests are not counted: ${remaining.join()}`);
  } finally {
    service.kill('SIGTERM');
  }
  const [code] = (await ended) as [number | null];
  if (code !== 0) problems.push(`it ended with ${code}`);
  if (!log().includes('they are counted in memory')) problems.push('nothing is said of the limits');
  return problems.length === 0 ? [] : [...problems, log()];
}

/** What a site may still ask for after one more request. */
async function remainingAfter(address: string, data: DataDirectory): Promise<string | null> {
  const { sites } = JSON.parse(await readFile(data.sitesFile, 'utf8')) as {
    sites: { site_key: string; site_secret: string; variant?: string }[];
  };
  const site = sites.find(({ variant = 'C' }) => variant === 'C');
  const query = new URLSearchParams({ site_key: site?.site_key ?? '', site_secret: site?.site_secret ?? '' });
  const response = await fetch(`${address}/c/api/v1/offers?${query.toString()}`);
  await response.arrayBuffer();
  return response.headers.get('x-ratelimit-remaining');
}

/**
 * Starts all of `start` over a data directory whose disk takes nothing more: the service answers with what was
 * published, and the tracker is alive and not ready. `end` gives the disk back: the tracker goes on by itself.
 * Gives what went wrong.
 */
export async function startProblems(data: DataDirectory, end: () => Promise<void>): Promise<string[]> {
  const problems: string[] = [];
  const { child: started, ended, address, log } = await begun(data, 'start');
  if (address === undefined) return [`it does not start: ${log()}`];
  const tracker = /"address":"([^"]+)","msg":"(?:tracking|this tracker is on standby)/.exec(log())?.[1];
  try {
    const ready = await fetch(`${address}/readyz`);
    if (ready.status !== 200) problems.push(`/readyz says ${ready.status}: ${await ready.text()}`);
    const unready = await fetch(`${tracker}/readyz`);
    const alive = await fetch(`${tracker}/healthz`);
    if (unready.status !== 503 || alive.status !== 200)
      problems.push(`the tracker answers ${unready.status} to /readyz, ${alive.status} to /healthz`);
    await end();
    if (!(await isNoStandby(`${tracker}/healthz`))) problems.push('the tracker does not go on');
  } finally {
    started.kill('SIGTERM');
  }
  const [code] = (await ended) as [number | null];
  if (code !== 0) problems.push(`it ended with ${code}`);
  return problems.length === 0 ? [] : [...problems, log()];
}

/** For ten seconds at most. Less room than the tracker wants is left, so that it never is ready. */
async function isNoStandby(address: string): Promise<boolean> {
  for (let tries = 0; tries < 100; tries++) {
    const answer = await fetch(address)
      .then((found) => found.text())
      .catch(() => '');
    if (answer.includes('"ok"')) return true;
    await setTimeout(100);
  }
  return false;
}
