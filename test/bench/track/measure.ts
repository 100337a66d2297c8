import { setTimeout } from 'node:timers/promises';
import type { Bench } from '../bench.ts';
import { median } from '../rounds.ts';
import type { MemoryUse } from '../serve/pinned-process.ts';
import type { ClickLoad } from './click-load.ts';
import { ClickStand, servers, type MeasuredClicks, type ServerName } from './click-stand.ts';

/** At half of a tracker's rate: the tracker, and the bare server at the same. */
export interface HalvedLoad {
  ratePerSecond: number;
  tracker: MeasuredClicks;
  bare: MeasuredClicks;
}

export interface TrackResults {
  /** Whether server and client had a core each. */
  pinned: boolean;
  /** As many clicks as each takes. */
  rounds: Record<ServerName, MeasuredClicks>[];
  halved: Record<'process' | 'power', HalvedLoad[]>;
  /** Of the tracker that waits for the disk, second by second, at half of its rate. */
  memory: MemoryUse[];
}

/** Of each load. */
const seconds = 5;
/** Until what runs often is compiled, and tables of what was seen lately have their size. */
const warmUpSeconds = 8;
/** While memory is watched. Seconds. */
const sweepEvery = 30;

/** Clicks at trackers, and requests at a bare server that redirects, in turns on one core. */
export async function measureTracking(bench: Bench): Promise<TrackResults> {
  const { rounds: count, minutes } = bench.options;
  const { logger } = bench.terminal;
  await using stand = await ClickStand.open(bench);
  const { pinned } = stand;
  if (!pinned) logger.warn('server and client share the cores: that takes two of them and `taskset`');
  for (const name of servers) await stand.load(name, { seconds: warmUpSeconds });

  const rounds: TrackResults['rounds'] = [];
  for (let round = 1; round <= count; round++) {
    const { bare, process, power } = await measureInTurn(stand, servers, round, { seconds });
    rounds.push({ bare, process, power });
    const perSecond = (each: MeasuredClicks) => Math.round(clicksPerSecond(each));
    logger.info(
      { bare: perSecond(bare), process: perSecond(process), power: perSecond(power) },
      `clicks a second: round ${round} of ${count}`,
    );
  }

  const halfOf = (name: ServerName) => Math.floor(median(rounds.map((round) => clicksPerSecond(round[name]))) / 2);
  const halved: TrackResults['halved'] = { process: [], power: [] };
  for (const name of ['process', 'power'] as const)
    for (let round = 1; round <= count; round++) {
      const ratePerSecond = halfOf(name);
      const { [name]: tracker, bare } = await measureInTurn(stand, ['bare', name], round, { seconds, ratePerSecond });
      halved[name].push({ ratePerSecond, tracker, bare });
      logger.info(
        { p99_ms: tracker.p99, bare_p99_ms: bare.p99 },
        `clicks at half of the rate, ${name}: round ${round} of ${count}`,
      );
    }

  logger.info({ minutes }, 'clicks: memory');
  return { pinned, rounds, halved, memory: await watchMemory(stand, minutes, halfOf('power')) };
}

/** The other way round in every second round, so that whatever slows the machine down meets all. */
async function measureInTurn<Name extends ServerName>(
  stand: ClickStand,
  names: readonly Name[],
  round: number,
  plan: Parameters<ClickStand['measure']>[1],
): Promise<Record<Name, MeasuredClicks>> {
  const seen: Partial<Record<Name, MeasuredClicks>> = {};
  for (const name of round % 2 === 1 ? names : names.toReversed()) seen[name] = await stand.measure(name, plan);
  return seen as Record<Name, MeasuredClicks>;
}

async function watchMemory(stand: ClickStand, minutes: number, ratePerSecond: number): Promise<MemoryUse[]> {
  const memory: MemoryUse[] = [];
  const load = stand.load('power', { seconds: minutes * 60, ratePerSecond });
  const isOver = load.then(() => true);
  while (!(await Promise.race([isOver, setTimeout(1000, false)]))) {
    memory.push(await stand.memory('power'));
    if (memory.length % sweepEvery === 0) await stand.sweep();
  }
  return memory;
}

export function clicksPerSecond({ clicks, seconds: took }: ClickLoad): number {
  return clicks / took;
}
