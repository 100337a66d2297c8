import { loadavg } from 'node:os';
import type { Bench } from '../bench.ts';
import { ratePerSecond } from '../serve/latency.ts';
import type { ServingData } from '../serve/serving-data.ts';
import { Stand } from '../serve/stand.ts';
import { publishLongNetwork } from './long-network.ts';
import { measureColdPages, type ColdAnswer } from './pages.ts';
import { measurePublishers, pagesPerSecond, type PublisherRound } from './publishers.ts';

export interface ConsoleResults {
  clicks: number;
  /** What else the machine was doing: processes that wanted a processor, before and after. */
  loads: number[];
  answers: ColdAnswer[];
  ratePerSecond: number;
  pagesPerSecond: number;
  publishers: PublisherRound[];
}

/** The console on a long history: its own pages, and what publishers notice of it. */
export async function measureConsole(bench: Bench): Promise<ConsoleResults> {
  return measureConsoleOn(bench, await publishLongNetwork(bench));
}

/** The same on a network that is published already. */
export async function measureConsoleOn(bench: Bench, network: ServingData): Promise<ConsoleResults> {
  const load = () => loadavg()[0] as number;
  const before = load();
  const stand = new Stand(bench.signal);
  try {
    const answers = await measureColdPages(bench, stand, network);
    const publishers = await measurePublishers(bench, stand, network);
    return { clicks: network.clicks, loads: [before, load()], answers, ratePerSecond, pagesPerSecond, publishers };
  } finally {
    await stand.close();
  }
}
