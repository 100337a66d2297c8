import { table } from '../../../src/cli/answer.ts';
import { median } from '../rounds.ts';
import type { MemoryUse } from '../serve/pinned-process.ts';
import { connections, type MeasuredClicks, type ServerName } from './click-stand.ts';
import { clicksPerSecond, type HalvedLoad, type TrackResults } from './measure.ts';

const aims = { process: 0.6, power: 0.55, p99Above: 3, memory: 1.05 };

type Durability = 'process' | 'power';

interface RateReport {
  perSecond: number;
  p50: number;
  p99: number;
  serverMicroseconds: number;
  clientMicroseconds: number;
  /** The share of a processor that the server took: where it is far below 1, a rate tells of the machine instead. */
  serverBusy: number;
}

interface TrackerReport {
  /** Median of the rounds' ratios of clicks a second: the tracker's by the bare server's. */
  ratio: number;
  aim: number;
  ratios: number[];
  /** The same by processor time of the server for one. */
  cpuRatio: number;
  /** At half of its rate: the median of the rounds' differences of the 99th percentile to the bare server's. */
  halved: { ratePerSecond: number; p99: number; bareP99: number; p99Above: number; p99sAbove: number[] };
}

export interface TrackReport extends Record<Durability, TrackerReport> {
  pinned: boolean;
  rates: Record<ServerName, RateReport>;
  /** Resident memory, and the same without V8's young generation. */
  memory: { seconds: number; aim: number; resident: Growth; residentOfOld: Growth };
}

/** Medians of the second quarter of a watch and of the last, and that by this. */
interface Growth {
  earlyBytes: number;
  lateBytes: number;
  ratio: number;
}

export function trackReport({ pinned, rounds, halved, memory }: TrackResults): TrackReport {
  const of = (name: ServerName) => rateReport(rounds.map((round) => round[name]));
  return {
    pinned,
    rates: { bare: of('bare'), process: of('process'), power: of('power') },
    process: trackerReport('process', rounds, halved.process),
    power: trackerReport('power', rounds, halved.power),
    memory: memoryReport(memory),
  };
}

function trackerReport(name: Durability, rounds: TrackResults['rounds'], halved: HalvedLoad[]): TrackerReport {
  const ratios = rounds.map((round) => clicksPerSecond(round[name]) / clicksPerSecond(round.bare));
  const p99sAbove = halved.map(({ tracker, bare }) => tracker.p99 - bare.p99);
  return {
    ratio: median(ratios),
    aim: aims[name],
    ratios,
    cpuRatio: median(rounds.map((round) => round.bare.serverMicroseconds / round[name].serverMicroseconds)),
    halved: {
      ratePerSecond: median(halved.map(({ ratePerSecond }) => ratePerSecond)),
      p99: median(halved.map(({ tracker }) => tracker.p99)),
      bareP99: median(halved.map(({ bare }) => bare.p99)),
      p99Above: median(p99sAbove),
      p99sAbove,
    },
  };
}

function rateReport(loads: readonly MeasuredClicks[]): RateReport {
  const medianBy = (value: (load: MeasuredClicks) => number) => median(loads.map(value));
  return {
    perSecond: medianBy(clicksPerSecond),
    p50: medianBy(({ p50 }) => p50),
    p99: medianBy(({ p99 }) => p99),
    serverMicroseconds: medianBy(({ serverMicroseconds }) => serverMicroseconds),
    clientMicroseconds: medianBy(({ clientMicroseconds }) => clientMicroseconds),
    serverBusy: medianBy((load) => (clicksPerSecond(load) * load.serverMicroseconds) / 1e6),
  };
}

function memoryReport(memory: readonly MemoryUse[]): TrackReport['memory'] {
  return {
    seconds: memory.length,
    aim: aims.memory,
    resident: growthOf(memory.map(({ residentBytes }) => residentBytes)),
    residentOfOld: growthOf(memory.map(({ residentBytes, youngBytes }) => residentBytes - youngBytes)),
  };
}

function growthOf(bytes: readonly number[]): Growth {
  const quarter = Math.max(1, Math.floor(bytes.length / 4));
  const earlyBytes = median(bytes.slice(quarter, 2 * quarter));
  const lateBytes = median(bytes.slice(-quarter));
  return { earlyBytes, lateBytes, ratio: lateBytes / earlyBytes };
}

/** Rows of the table of measures. */
export function trackMeasures(report: TrackReport): Record<string, string>[] {
  const { memory } = report;
  return [
    ...(['power', 'process'] as const).flatMap((name) => {
      const { ratio, aim, ratios, cpuRatio, halved } = report[name];
      return [
        {
          measure: `track  clicks a second, durability ${name} / bare node:http 302`,
          reached: ratio.toFixed(2),
          aim: `>= ${aim}`,
          'by CPU time': cpuRatio.toFixed(2),
          rounds: ratios.map((each) => each.toFixed(2)).join(' '),
        },
        {
          measure: `track  p99 at ${halved.ratePerSecond}/s, durability ${name}, above the bare server's`,
          reached: `${halved.p99Above.toFixed(2)} ms`,
          aim: `<= ${aims.p99Above} ms`,
          'by CPU time': '-',
          rounds: halved.p99sAbove.map((each) => each.toFixed(2)).join(' '),
        },
      ];
    }),
    ...([memory.resident, memory.residentOfOld] as const).map(({ ratio }, index) => ({
      measure: `track  resident memory${index === 1 ? " without V8's young generation" : ''}, last quarter of ${memory.seconds} s / second quarter`,
      reached: ratio.toFixed(2),
      aim: `<= ${memory.aim}`,
      'by CPU time': '-',
      rounds: '-',
    })),
  ];
}

/** Paragraphs behind the table: where the ratios come from. */
export function trackRuns({ pinned, rates, process, power, memory }: TrackReport): string[] {
  const mebibytes = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`;
  const grown = ({ earlyBytes, lateBytes }: Growth) => `${mebibytes(earlyBytes)}, later ${mebibytes(lateBytes)}`;
  const rows = Object.entries(rates).map(([server, rate]) => ({
    server,
    'clicks/s': rate.perSecond.toFixed(0),
    'server busy': rate.serverBusy.toFixed(2),
    'server CPU µs each': rate.serverMicroseconds.toFixed(1),
    'client CPU µs each': rate.clientMicroseconds.toFixed(1),
    'median ms': rate.p50.toFixed(2),
    'p99 ms': rate.p99.toFixed(2),
  }));
  const p99s = ({ halved }: TrackerReport) =>
    `${halved.p99.toFixed(2)} ms where the bare server has ${halved.bareP99.toFixed(2)}`;
  return [
    `Tracking: ${pinned ? 'server and client with a core each' : 'server and client not pinned: no taskset, or one core'}, ${connections} connections, each click of a new user.`,
    table(rows),
    '',
    `99th percentile at half of the rate: process ${p99s(process)}, power ${p99s(power)}. Resident memory ${grown(memory.resident)}; without V8's young generation ${grown(memory.residentOfOld)}.`,
  ];
}
