import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { generateLogs, historyEnd, type Bench, type Measure } from './bench.ts';
import { measureRefresh } from './measured-refresh.ts';
import { onlyClickFile } from './refresh.ts';
import { measureOf, percentile95 } from './rounds.ts';
import { servedSnapshot, Stand, type Server } from './serve/stand.ts';

const commandLine = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
/** Files that land, one after the other is served, and clicks in each. */
const landings = 20;
const clicksInEach = 1000;
/** Between what is served and the next file: runs of the schedule's own moments may come in between as well. */
const pauseMilliseconds = 500;
const longestMilliseconds = 60_000;

/**
 * Seconds from a file's arrival in the landing folder, by its rename, until the service answers from a snapshot that
 * has its clicks: `schedule` with `"watch": true` and `serve` as processes of their own, on the history of all clicks.
 */
export async function measureLandedToServed(bench: Bench): Promise<Measure[]> {
  const { terminal, options, signal } = bench;
  const { data, clicks } = await generateLogs(bench, 'served-history', { ...options, end: historyEnd });
  const arrivals = await generateLogs(bench, 'landing-by-and-by', {
    clicks: landings * clicksInEach,
    days: 1,
    end: new Date().toISOString(),
    seed: options.seed + 2,
  });
  const lines = (await readFile(await onlyClickFile(arrivals), 'utf8')).trimEnd().split('\n');
  const settings = await readFile(data.settingsFile, 'utf8');
  terminal.logger.info({ clicks }, 'refreshing the history');
  await measureRefresh(data, historyEnd, { clicks }, signal);
  const plan = { cron: '*/5 * * * *', watch: true };
  await writeFile(
    data.settingsFile,
    JSON.stringify({ ...(JSON.parse(settings) as object), schedule: { refresh: plan } }),
  );
  const stand = new Stand(signal);
  const schedule = spawn(process.execPath, [commandLine, 'schedule', '--json'], {
    env: { ...process.env, OFFERLINE_DATA: data.root },
    stdio: ['ignore', 'ignore', 'pipe'],
    signal,
  });
  const ended = once(schedule, 'exit');
  try {
    await logged(schedule.stderr, 'watching landing');
    const server = await stand.serve(data);
    const seconds: number[] = [];
    for (let landing = 0; landing < landings; landing++) {
      const part = lines.slice(landing * clicksInEach, (landing + 1) * clicksInEach);
      seconds.push(await landAndWait(data, server, `arrival-${landing}.ndjson`, `${part.join('\n')}\n`));
      await setTimeout(pauseMilliseconds, undefined, { signal });
    }
    return [
      measureOf(`landed to served, ${clicks} clicks as history`, seconds, '<= 3', ' s'),
      measureOf('the same, 95th percentile', [percentile95(seconds)], '<= 3', ' s'),
    ];
  } finally {
    schedule.kill('SIGTERM');
    await ended.catch(() => undefined);
    await stand.close();
  }
}

async function landAndWait(data: DataDirectory, server: Server, name: string, text: string): Promise<number> {
  const before = await servedSnapshot(server);
  const folder = join(data.landing, 'clicks');
  await writeFile(join(folder, `${name}.part`), text);
  const started = performance.now();
  await rename(join(folder, `${name}.part`), join(folder, name));
  while ((await servedSnapshot(server)) === before) {
    if (performance.now() - started > longestMilliseconds)
      throw new Error(`${name} was not served within ${longestMilliseconds / 1000} s`);
    await setTimeout(10);
  }
  return (performance.now() - started) / 1000;
}

/** Resolves once the process has logged such a line; later ones are read and dropped. */
async function logged(logs: NodeJS.ReadableStream, what: string): Promise<void> {
  let seen = '';
  await new Promise<void>((resolve, reject) => {
    logs.on('data', (chunk: Buffer) => {
      if (seen.length < 1_000_000) seen += chunk.toString();
      if (seen.includes(what)) resolve();
    });
    logs.once('end', () => reject(new Error(`the schedule ended:\n${seen.slice(-2000)}`)));
  });
}
