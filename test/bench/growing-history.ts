import { execFileSync } from 'node:child_process';
import { copyFile, cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { findLandingFiles } from '../../src/pipeline/landing/files/find-files.ts';
import { arrivalEnd, forgetRuns, generateLogs, historyEnd, type Bench, type GeneratedLogs } from './bench.ts';
import { measureRefresh, type MeasuredRefresh } from './measured-refresh.ts';
import { inTurns, type Pair } from './rounds.ts';

export const newClicks = 20_000;

export type HistoryRound = Pair<MeasuredRefresh, MeasuredRefresh>;

/** Ingest reads a landing file again that had changed in the two seconds before it was looked at. */
const settledAfterMilliseconds = 2500;

/** Measure b: a refresh of the same new clicks on a long history (first) and on a short one of as many a day (second). */
export async function measureGrowingHistory(bench: Bench, long: GeneratedLogs): Promise<HistoryRound[]> {
  const { options, terminal, signal } = bench;
  const short = await generateLogs(bench, 'short-history', {
    clicks: Math.round((options.clicks * options.shortDays) / options.days),
    days: options.shortDays,
    end: historyEnd,
  });
  const arrivals = await generateLogs(bench, 'arrivals', {
    clicks: newClicks,
    days: 1,
    end: arrivalEnd,
    seed: options.seed + 1,
  });
  const [arrival, ...others] = (await findLandingFiles(arrivals.data.landing)).files.filter(
    ({ kind }) => kind === 'clicks',
  );
  if (arrival === undefined || others.length > 0)
    throw new Error(`${newClicks} generated clicks are expected in one file; change the bench with the generator`);
  await setTimeout(settledAfterMilliseconds, undefined, { signal });

  const measureOn = async ({ data, clicks }: GeneratedLogs) => {
    terminal.logger.info({ clicks }, 'refreshing the history');
    await forgetRuns(data);
    await measureRefresh(data, historyEnd, { clicks }, signal);
    const prepared = `${data.root}-prepared`;
    await copyRuns(data.root, prepared);
    return async () => {
      const landed = join(data.landing, 'clicks', 'arrival.ndjson');
      await forgetRuns(data);
      // Back to its own place: the landing files keep their inodes, by which the warehouse knows that it has read them.
      await copyRuns(prepared, data.root);
      await copyFile(arrival.absolutePath, landed);
      writeOut();
      try {
        return await expectOneFile(measureRefresh(data, arrivalEnd, { clicks: clicks + newClicks }, signal), data);
      } finally {
        await rm(landed);
      }
    };
  };
  const onLong = await measureOn(long);
  const onShort = await measureOn(short);
  return inTurns(options.rounds, onLong, onShort, (round, { first, second }) => {
    terminal.logger.info(
      { long_s: first.seconds, short_s: second.seconds },
      `growing history: round ${round} of ${options.rounds}`,
    );
  });
}

async function copyRuns(from: string, to: string): Promise<void> {
  for (const folder of ['warehouse', 'published']) {
    await cp(join(from, folder), join(to, folder), {
      recursive: true,
      preserveTimestamps: true,
      verbatimSymlinks: true,
    });
  }
}

/**
 * Writes the copies to the disk first, or the fsyncs of the refresh would pay for them, most of all those of the long
 * history.
 */
function writeOut(): void {
  execFileSync('sync');
}

async function expectOneFile(refresh: Promise<MeasuredRefresh>, data: DataDirectory): Promise<MeasuredRefresh> {
  const measured = await refresh;
  if (measured.ingested.files !== 1)
    throw new Error(`the refresh of ${data.root} took up ${measured.ingested.files} files, only one is new`);
  return measured;
}
