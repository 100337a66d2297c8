import { setTimeout } from 'node:timers/promises';
import type { Bench, Measure } from '../bench.ts';
import { inTurns, measureOf, median } from '../rounds.ts';
import type { ClickLoad } from './click-load.ts';
import { ClickStand, servers } from './click-stand.ts';

/** Of each load. */
const seconds = 5;
/** Until what runs often is compiled, and tables of what was seen lately have their size. */
const warmUpSeconds = 8;

/** While memory is watched. */
const sweepSeconds = 30;

/** Clicks at trackers, and requests at a bare server that redirects, in turns on one core. */
export async function measureTracking(bench: Bench): Promise<Measure[]> {
  const { rounds, quick } = bench.options;
  await using stand = await ClickStand.open(bench);
  if (!stand.pinned)
    bench.terminal.logger.warn('server and client share the cores: that takes two of them and `taskset`');
  for (const name of servers) await stand.load(name, { seconds: warmUpSeconds });
  const measures: Measure[] = [];
  for (const name of ['power', 'process'] as const) {
    const full = await inTurns(
      rounds,
      () => stand.load(name, { seconds }),
      () => stand.load('bare', { seconds }),
    );
    // At its limit latency is the length of a queue.
    const ratePerSecond = Math.floor(median(full.map(({ first }) => clicksPerSecond(first))) / 2);
    const half = await inTurns(
      rounds,
      () => stand.load(name, { seconds, ratePerSecond }),
      () => stand.load('bare', { seconds, ratePerSecond }),
    );
    measures.push(
      measureOf(
        `clicks a second, durability ${name} / bare node:http 302`,
        full.map(({ first, second }) => clicksPerSecond(first) / clicksPerSecond(second)),
        '>= 0.35',
      ),
      measureOf(
        `99th percentile at ${ratePerSecond} clicks a second, durability ${name}, above the bare server's`,
        half.map(({ first, second }) => first.p99 - second.p99),
        '<= 3',
        ' ms',
      ),
    );
    if (name === 'power') measures.push(await measureGrowth(stand, ratePerSecond, quick ? 20 : 120));
  }
  return measures;
}

/** Resident memory of a tracker in the last quarter of a long load against that in the second. */
async function measureGrowth(stand: ClickStand, ratePerSecond: number, watchSeconds: number): Promise<Measure> {
  const bytes: number[] = [];
  const isOver = stand.load('power', { seconds: watchSeconds, ratePerSecond }).then(() => true);
  while (!(await Promise.race([isOver, setTimeout(1000, false)]))) {
    bytes.push(await stand.residentBytes('power'));
    if (bytes.length % sweepSeconds === 0) await stand.sweep();
  }
  const quarter = Math.floor(bytes.length / 4);
  const growth = median(bytes.slice(-quarter)) / median(bytes.slice(quarter, 2 * quarter));
  return measureOf(`memory at that rate, last quarter of ${watchSeconds} s / second quarter`, [growth], '<= 1.05');
}

function clicksPerSecond({ clicks, seconds: took }: ClickLoad): number {
  return clicks / took;
}
