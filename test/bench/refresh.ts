import { execFileSync } from 'node:child_process';
import { copyFile, cp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { currentManifest } from '../../src/pipeline/snapshot/snapshot-store.ts';
import { findLandingFiles } from '../../src/pipeline/landing/files/find-files.ts';
import {
  arrivalEnd,
  forgetRuns,
  generateLogs,
  historyEnd,
  type Bench,
  type GeneratedLogs,
  type Measure,
} from './bench.ts';
import { measureProcess } from './measured-process.ts';
import { measureRefresh } from './measured-refresh.ts';
import { inTurns, measureOf } from './rounds.ts';

const bareCopy = new URL('./bare-copy.ts', import.meta.url);

/** The first refresh of a data directory against DuckDB's bare COPY of the same click files, each a process. */
export async function measureRefreshes(bench: Bench): Promise<Measure[]> {
  const { options, folder, signal } = bench;
  const logs = await generateLogs(bench, 'all-days', { ...options, end: historyEnd });
  const pairs = await inTurns(
    options.rounds,
    () => firstRefresh(logs, signal),
    async () => {
      const measured = await measureProcess(bareCopy, [logs.data.root, join(folder, 'bare-copy.parquet')], { signal });
      const { rows } = JSON.parse(measured.output) as { rows: number };
      if (rows !== logs.clicks) throw new Error(`the bare COPY wrote ${rows} rows, ${logs.clicks} were generated`);
      return measured;
    },
  );
  return [
    measureOf(
      `refresh of ${logs.clicks} clicks / bare COPY`,
      pairs.map(({ first, second }) => first.seconds / second.seconds),
      '<= 3',
    ),
    measureOf(
      'the same by processor time',
      pairs.map(({ first, second }) => first.cpuSeconds / second.cpuSeconds),
      '-',
    ),
    measureOf(
      'its peak memory',
      pairs.map(({ first }) => first.peakBytes / 2 ** 30),
      '-',
      ' GiB',
    ),
  ];
}

async function firstRefresh(logs: GeneratedLogs, signal: AbortSignal) {
  await forgetRuns(logs.data);
  return measureRefresh(logs.data, historyEnd, logs, signal);
}

/** The first refresh of messy logs against that of as many clicks in clean ones. */
export async function measureMessyLogs(bench: Bench): Promise<Measure[]> {
  const { options, signal } = bench;
  const messy = await generateLogs(bench, 'messy', { ...options, end: historyEnd, messy: true });
  const clean = await generateLogs(bench, 'clean', { ...options, end: historyEnd });
  const pairs = await inTurns(
    options.rounds,
    () => firstRefresh(messy, signal),
    () => firstRefresh(clean, signal),
  );
  return [
    measureOf(
      `refresh of ${messy.clicks} clicks in messy logs / in clean ones`,
      pairs.map(({ first, second }) => first.seconds / second.seconds),
      '<= 1.5',
    ),
  ];
}

/** Ingest of all conversions, whose clicks are there, against that of all clicks, for each row. */
export async function measureConversionRows(bench: Bench): Promise<Measure[]> {
  const { options, signal } = bench;
  const { data, clicks } = await generateLogs(bench, 'conversion-rows', { ...options, end: historyEnd });
  const landed = join(data.landing, 'conversions');
  const aside = join(data.root, 'conversions-aside');
  const ratios: number[] = [];
  let conversions = 0;
  for (let round = 1; round <= options.rounds; round++) {
    await rename(landed, aside);
    const ofClicks = await firstRefresh({ data, clicks }, signal);
    await rename(aside, landed);
    const ofConversions = await measureRefresh(data, historyEnd, { clicks }, signal);
    conversions = (await currentManifest(data))?.row_counts['conversions'] ?? 0;
    ratios.push(ofConversions.ingestSeconds / conversions / (ofClicks.ingestSeconds / clicks));
  }
  return [measureOf(`ingest of one of ${conversions} conversions / of one of ${clicks} clicks`, ratios, '<= 3')];
}

export const newClicks = 20_000;
/** Ingest reads a landing file again that had changed in the two seconds before it was looked at. */
export const settledAfterMilliseconds = 2500;

/** A refresh of the same new clicks on a long history, and on one day of as many a day. */
export async function measureHistory(bench: Bench): Promise<Measure[]> {
  const { options, signal } = bench;
  const { clicks, days } = options;
  const long = await generateLogs(bench, 'long-history', { clicks, days, end: historyEnd });
  const short = await generateLogs(bench, 'short-history', {
    clicks: Math.round(clicks / days),
    days: 1,
    end: historyEnd,
  });
  const arrivals = await generateLogs(bench, 'arrivals', {
    clicks: newClicks,
    days: 1,
    end: arrivalEnd,
    seed: options.seed + 1,
  });
  const arrival = await onlyClickFile(arrivals);
  await setTimeout(settledAfterMilliseconds, undefined, { signal });
  const onLong = await refreshOn(long, arrival, signal);
  const onShort = await refreshOn(short, arrival, signal);
  const pairs = await inTurns(options.rounds, onLong, onShort);
  return [
    measureOf(
      `refresh of ${newClicks} clicks on ${days} days / on 1`,
      pairs.map(({ first, second }) => first.seconds / second.seconds),
      '<= 1.15',
    ),
  ];
}

/** The one file of clicks. Throws where the generator makes several. */
export async function onlyClickFile({ data, clicks }: GeneratedLogs): Promise<string> {
  const { files } = await findLandingFiles(data.landing);
  const [file, ...others] = files.filter(({ kind }) => kind === 'clicks');
  if (file === undefined || others.length > 0)
    throw new Error(`${clicks} generated clicks are expected in one file; change the bench with the generator`);
  return file.absolutePath;
}

/** Refreshes the history once, and returns what measures a refresh of the arrival on it. */
async function refreshOn({ data, clicks }: GeneratedLogs, arrival: string, signal: AbortSignal) {
  await forgetRuns(data);
  await measureRefresh(data, historyEnd, { clicks }, signal);
  const prepared = `${data.root}-prepared`;
  await copyRuns(data.root, prepared);
  return async () => {
    const landed = join(data.landing, 'clicks', 'arrival.ndjson');
    await forgetRuns(data);
    // Back to its own place: the landing files keep their inodes, by which the warehouse knows that it has read them.
    await copyRuns(prepared, data.root);
    await copyFile(arrival, landed);
    // Written out first, or the fsyncs of the refresh would pay for the copies.
    execFileSync('sync');
    try {
      const measured = await measureRefresh(data, arrivalEnd, { clicks: clicks + newClicks }, signal);
      if (measured.ingested.files !== 1)
        throw new Error(`the refresh of ${data.root} took up ${measured.ingested.files} files, only one is new`);
      return measured;
    } finally {
      await rm(landed);
    }
  };
}

async function copyRuns(from: string, to: string): Promise<void> {
  for (const folder of ['warehouse', 'published'])
    await cp(join(from, folder), join(to, folder), {
      recursive: true,
      preserveTimestamps: true,
      verbatimSymlinks: true,
    });
}
