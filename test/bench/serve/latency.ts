import { DuckDBInstance } from '@duckdb/node-api';
import { copyFile, readdir, rename, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { findLandingFiles } from '../../../src/pipeline/landing/files/find-files.ts';
import { quoted } from '../../../src/kit/text/sql-text.ts';
import { analyticsFile } from '../../../src/pipeline/snapshot/manifest.ts';
import { arrivalEnd, generateLogs, type Bench } from '../bench.ts';
import { newClicks } from '../growing-history.ts';
import { measureRefresh } from '../measured-refresh.ts';
import type { Load } from './load.ts';
import { defaultPages, pathOf, randomFilters } from './requests.ts';
import { largeCatalog, type ServingData } from './serving-data.ts';
import type { Stand } from './stand.ts';

export interface Latencies {
  ratePerSecond: number;
  quiet: Load;
  refreshing: Load;
  /** Of the wall time of the refreshes alone. */
  refreshSeconds: number[];
  switching: Load;
}

/** A busy service that is not at its limit, or latency would be the length of a queue. */
export const ratePerSecond = 250;
const filters = 400;
/** Sites whose default pages and reports are asked for too. */
const askingSites = 10;
/** The service looks every second; a little more, so that it sees each of the snapshots. Milliseconds. */
const betweenSwitches = 1_500;
const switches = 6;
const quietMilliseconds = 5_000;

/**
 * Latency at a steady load: with nothing else, while refreshes run and are taken up, and while `current` moves to and
 * fro.
 */
export async function measureLatencies(
  bench: Bench,
  stand: Stand,
  { data, clicks, sites }: ServingData,
): Promise<Latencies> {
  const { options, terminal, signal } = bench;
  const paths = mixedPaths(options.seed + 1, sites);
  const service = await stand.serve(data);
  const plan = { paths, ratePerSecond };
  const pause = (milliseconds: number) => setTimeout(milliseconds, undefined, { signal });

  await stand.loadDuring(service, plan, () => pause(quietMilliseconds));
  terminal.logger.info('latency with nothing else going on');
  const quiet = await stand.loadDuring(service, plan, () => pause(quietMilliseconds));

  const refreshSeconds: number[] = [];
  const arrivals = await generateArrivals(bench);
  const refreshing = await stand.loadDuring(service, plan, async () => {
    for (const [index, arrival] of arrivals.entries()) {
      await copyFile(arrival, join(data.landing, 'clicks', `arrival-${index}.ndjson`));
      const { seconds } = await measureRefresh(data, arrivalEnd, { clicks: clicks + newClicks * (index + 1) }, signal);
      refreshSeconds.push(seconds);
      terminal.logger.info({ refresh_s: seconds }, `latency while a refresh runs: ${index + 1} of ${arrivals.length}`);
      await pause(betweenSwitches);
    }
  });

  terminal.logger.info({ switches }, 'latency while the snapshot is switched');
  const [older = '', newer = ''] = (await readdir(data.published))
    .filter((name) => /^\d/.test(name))
    .toSorted()
    .slice(-2);
  const switching = await stand.loadDuring(service, plan, async () => {
    for (let turn = 0; turn < switches; turn++) {
      await makeCurrent(data, turn % 2 === 0 ? older : newer);
      await pause(betweenSwitches);
    }
  });
  if (refreshing.switches === 0 || switching.switches === 0)
    throw new Error('the service did not take up a new snapshot in time; nothing was measured');
  await stand.stop(service);
  return { ratePerSecond, quiet, refreshing, refreshSeconds, switching };
}

/** What publishers ask for: odd filters, and among them default pages and reports. */
export function mixedPaths(seed: number, sites: ServingData['sites']): string[] {
  const pages = Object.values(defaultPages).flatMap((base) =>
    sites.slice(0, askingSites).map((site) => pathOf(base, site)),
  );
  // Spread over the others: reports of a large catalog, all at once, would be a measure of their own.
  const every = Math.floor(filters / pages.length);
  return randomFilters(seed, sites, filters).flatMap((path, index) => [
    path,
    ...(index % every === 0 ? pages.slice(index / every, index / every + 1) : []),
  ]);
}

/** One file of new clicks per round. */
async function generateArrivals(bench: Bench): Promise<string[]> {
  const files: string[] = [];
  for (let round = 1; round <= bench.options.rounds; round++) {
    const { data } = await generateLogs(bench, `serve-arrivals-${round}`, {
      clicks: newClicks,
      days: 1,
      end: arrivalEnd,
      seed: bench.options.seed + round,
      ...largeCatalog,
    });
    const found = (await findLandingFiles(data.landing)).files.filter(({ kind }) => kind === 'clicks');
    if (found.length !== 1)
      throw new Error(`${newClicks} generated clicks are expected in one file; change the bench with the generator`);
    files.push((found[0] as { absolutePath: string }).absolutePath);
  }
  return files;
}

/** In one step, as the pipeline does it. */
async function makeCurrent(data: DataDirectory, snapshot: string): Promise<void> {
  const temporary = join(data.published, '.current.tmp');
  await symlink(snapshot, temporary);
  await rename(temporary, data.current);
}

export interface Lookups {
  /** All that there are in the snapshot. */
  clicks: number;
  rounds: Load[];
}

/** Variant A lets a site look up 600 clicks a minute. */
const mostLookups = 500;
const lookupsPerRound = 100;
const warmUpLookups = 20;
/** The first lookup of a process has it learn which file has which clicks: two million and more of them in a second. */
const clicksLearnedPerMillisecond = 2_000;

/** Clicks picked all over history, every second one with a conversion, each looked up once, one after the other. */
export async function measureLookups(
  { options, terminal, signal }: Bench,
  stand: Stand,
  { data, clicks, sites }: ServingData,
): Promise<Lookups> {
  const perRound = Math.min(lookupsPerRound, Math.floor(mostLookups / options.rounds));
  const paths = await lookupPaths(
    data,
    sites.filter(({ variant }) => variant === 'A').map(({ site_key }) => site_key),
    warmUpLookups + perRound * options.rounds,
  );
  const service = await stand.serve(data);
  const first = await stand.one(service, paths.splice(0, warmUpLookups));
  terminal.logger.info({ median_ms: first.p50 }, 'click lookup: while the service learns where the clicks are');
  await setTimeout(1_000 + clicks / clicksLearnedPerMillisecond, undefined, { signal });
  const rounds: Load[] = [];
  for (let round = 1; round <= options.rounds; round++) {
    const load = await stand.one(service, paths.splice(0, perRound));
    terminal.logger.info({ median_ms: load.p50 }, `click lookup: round ${round} of ${options.rounds}`);
    rounds.push(load);
  }
  await stand.stop(service);
  return { clicks, rounds };
}

async function lookupPaths(data: DataDirectory, siteKeys: readonly string[], count: number): Promise<string[]> {
  const instance = await DuckDBInstance.create(join(data.current, analyticsFile), { access_mode: 'READ_ONLY' });
  const connection = await instance.connect();
  try {
    const picked = async (membership: 'IN' | 'NOT IN', most: number) => {
      const found = await connection.runAndReadAll(
        `SELECT click_id, site_key FROM clicks WHERE site_key IN (${siteKeys.map(quoted).join(', ')}) AND click_id ${membership} (SELECT click_id FROM conversions)
         ORDER BY hash(click_id) LIMIT ${most}`,
      );
      return (found.getRows() as [string, string][]).map(
        ([click_id, site_key]) => `/a/api/click-lookup?${new URLSearchParams({ site_key, click_id }).toString()}`,
      );
    };
    const converted = await picked('IN', Math.floor(count / 2));
    return (await picked('NOT IN', count - converted.length)).flatMap((path, place) => [
      path,
      ...converted.slice(place, place + 1),
    ]);
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}
