import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { nodeArguments } from '../support/command-line.ts';

const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

/**
 * Starts the service over a data directory whose disk takes nothing more. It must answer with what was published, count
 * requests against their limit, say that it counts them in memory, and end well. Gives what went wrong.
 */
export async function serviceProblems(data: DataDirectory): Promise<string[]> {
  const problems: string[] = [];
  const service = spawn(process.execPath, [...nodeArguments, main, 'serve', '--port', '0', '--json'], {
    env: { ...process.env, OFFERLINE_DATA: data.root },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let told = '';
  service.stderr.setEncoding('utf8').on('data', (text: string) => (told += text));
  const ended = once(service, 'close');
  let answer = '';
  service.stdout.setEncoding('utf8');
  for await (const text of service.stdout) {
    answer += String(text);
    if (answer.includes('\n}')) break;
  }
  if (answer === '') return [`it does not listen: ${told}`];
  const { address } = JSON.parse(answer) as { address: string };
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
  if (!told.includes('they are counted in memory')) problems.push('nothing is said of the limits');
  return problems.length === 0 ? [] : [...problems, told];
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
