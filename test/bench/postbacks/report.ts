import type { Measured } from '../measured-process.ts';
import { median, type Pair } from '../rounds.ts';
import { fewDue, manyDue, type MeasuredDelivery, type PostbackResults } from './measure.ts';

const aims = { throughput: 0.6, memory: 1.2, hanging: 1.2 };

interface RatioReport {
  /** Median of the pairs' ratios. */
  ratio: number;
  aim: number;
  ratios: number[];
}

export interface PostbackReport {
  due: { many: number; few: number };
  /** Requests per second of a pass by those of the bare loop; `cpuRatio` by processor time. */
  throughput: RatioReport & { cpuRatio: number; passPerSecond: number; loopPerSecond: number };
  /** Memory in use by a pass over many by that over few; `peakBytes` is the largest resident set of the former. */
  memory: RatioReport & { manyBytes: number; fewBytes: number; peakBytes: number };
  /** When 95 % of what is due to nineteen addresses was delivered: while a twentieth hangs, by without it. */
  hanging: RatioReport & { withMilliseconds: number; withoutMilliseconds: number; passSeconds: number };
}

export function postbackReport({ throughput, memory, hanging }: PostbackResults): PostbackReport {
  return {
    due: { many: manyDue, few: fewDue },
    throughput: {
      ...ratioReport(throughput, aims.throughput, ({ first, second }) => second.seconds / first.seconds),
      cpuRatio: median(throughput.map(({ first, second }) => second.cpuSeconds / first.cpuSeconds)),
      passPerSecond: median(throughput.map(({ first }) => manyDue / first.seconds)),
      loopPerSecond: median(throughput.map(({ second }) => manyDue / second.seconds)),
    },
    memory: {
      ...ratioReport(memory, aims.memory, ({ first, second }) => first.liveBytes / second.liveBytes),
      manyBytes: Math.max(...memory.map(({ first }) => first.liveBytes)),
      fewBytes: Math.max(...memory.map(({ second }) => second.liveBytes)),
      peakBytes: Math.max(...throughput.map(({ first }) => first.peakBytes)),
    },
    hanging: {
      ...ratioReport(hanging, aims.hanging, ({ first, second }) => first.p95 / second.p95),
      withMilliseconds: median(hanging.map(({ first }) => first.p95)),
      withoutMilliseconds: median(hanging.map(({ second }) => second.p95)),
      passSeconds: median(hanging.map(({ first }) => first.seconds)),
    },
  };
}

function ratioReport<Second extends Measured>(
  pairs: Pair<MeasuredDelivery, Second>[],
  aim: number,
  ratioOf: (pair: Pair<MeasuredDelivery, Second>) => number,
): RatioReport {
  const ratios = pairs.map(ratioOf);
  return { ratio: median(ratios), aim, ratios };
}

/** Rows of the table of measures. */
export function postbackMeasures({ due, throughput, memory, hanging }: PostbackReport): Record<string, string>[] {
  const rounds = ({ ratios }: RatioReport) => ratios.map((each) => each.toFixed(2)).join(' ');
  return [
    {
      measure: `postbacks  a pass over ${due.many} due / bare undici loop`,
      reached: throughput.ratio.toFixed(2),
      aim: `>= ${throughput.aim}`,
      'by CPU time': throughput.cpuRatio.toFixed(2),
      rounds: rounds(throughput),
    },
    {
      measure: `postbacks  memory in use with ${due.many} due / with ${due.few}`,
      reached: memory.ratio.toFixed(2),
      aim: `<= ${memory.aim}`,
      'by CPU time': '-',
      rounds: rounds(memory),
    },
    {
      measure: 'postbacks  p95 of 19 addresses beside one that hangs / without it',
      reached: hanging.ratio.toFixed(2),
      aim: `<= ${hanging.aim}`,
      'by CPU time': '-',
      rounds: rounds(hanging),
    },
  ];
}

/** Lines behind the table. */
export function postbackRuns({ due, throughput, memory, hanging }: PostbackReport): string[] {
  const mebibytes = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`;
  return [
    `Postbacks: ${Math.round(throughput.passPerSecond)} a second, the bare loop ${Math.round(throughput.loopPerSecond)}; in use ${mebibytes(memory.manyBytes)} with ${due.many} due and ${mebibytes(memory.fewBytes)} with ${due.few}, at most ${mebibytes(memory.peakBytes)} resident;`,
    `  95 % delivered after ${Math.round(hanging.withMilliseconds)} ms beside an address that hangs, ${Math.round(hanging.withoutMilliseconds)} ms without it; that pass took ${hanging.passSeconds.toFixed(1)} s in all.`,
  ];
}
