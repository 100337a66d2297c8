import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { generate } from '../../src/demo/generate/generate.ts';
import { readAnalytics } from '../../src/pipeline/snapshot/read-analytics.ts';
import { launcher } from '../support/command-line.ts';

const end = '2026-11-18T10:00:00Z';
const clicks = 1_000_000;
const badLines = 10_000;
/** The second one is the default of a container of 1 GB. */
const limits = ['300MB', '500MB'];

/** A network of a million clicks over three days, with ten thousand lines beside them that are none. */
async function landMillion(root: string): Promise<void> {
  await generate({ out: root, seed: 3, clicks, days: 3, end: new Date(end) });
  const folder = join(root, 'landing/clicks');
  await mkdir(folder, { recursive: true });
  const file = join(folder, 'bad-lines.ndjson');
  for (let first = 0; first < badLines; first += 1000) {
    const numbers = Array.from({ length: 1000 }, (_, index) => first + index);
    const lines = numbers.map((number) => `{"click_id":"bad-${number}","user_id":"${'x'.repeat(number % 500)}\n`);
    await appendFile(file, lines.join(''));
  }
}

/** Refreshes as a process of its own under a limit, or the default; throws where it does not publish. */
async function figuresUnder(limit: string | undefined, from: string, root: string): Promise<string> {
  await cp(from, root, { recursive: true, preserveTimestamps: true });
  const data = new DataDirectory(root);
  const settings = JSON.parse(await readFile(data.settingsFile, 'utf8')) as object;
  await writeFile(data.settingsFile, JSON.stringify({ ...settings, duckdb: { memory_limit: limit } }));
  const child = spawn(launcher.executable, [...launcher.words, 'run', 'refresh', '--as-of', end], {
    env: { ...process.env, OFFERLINE_DATA: root },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let told = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (told += text));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`the refresh ended with ${code}: ${told.slice(-2000)}`);
  const figures = await readAnalytics(data.current, async (query) => ({
    stats: await query('SELECT to_json(s)::VARCHAR FROM offer_stats_2d AS s ORDER BY ALL'),
    days: await query('SELECT to_json(d)::VARCHAR FROM offer_daily AS d ORDER BY ALL'),
    clicks: await query('SELECT count(*), bit_xor(hash(click_id, offer_id, user_id, clicked_at))::VARCHAR FROM clicks'),
    files: await query('SELECT path, status, rows, accepted, duplicates, rejected FROM ingest_files ORDER BY path'),
    runs: await query("SELECT status FROM run_stages WHERE status = 'failed'"),
  }));
  await rm(root, { recursive: true });
  return JSON.stringify(figures, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
}

/** Whole refreshes under each limit: what is wrong with each, nothing where all is well. */
export async function* refreshesInLittleMemory(work: string): AsyncGenerator<[name: string, problems: string[]]> {
  const landed = join(work, 'million');
  await landMillion(landed);
  const expected = await figuresUnder(undefined, landed, join(work, 'default'));
  for (const limit of limits) {
    const problems = await figuresUnder(limit, landed, join(work, limit)).then(
      (figures) => (figures === expected ? [] : [`figures differ from those of the default limit`]),
      (error: unknown) => [(error as Error).message],
    );
    yield [`a million clicks and ${badLines} bad lines under duckdb.memory_limit ${limit}`, problems];
  }
}
