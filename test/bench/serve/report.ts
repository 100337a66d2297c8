import { table } from '../../../src/cli/answer.ts';
import { median } from '../rounds.ts';
import type { Load } from './load.ts';
import type { Lookups } from './latency.ts';
import type { ServingResults } from './measure.ts';
import type { MeasuredLoad } from './stand.ts';
import type { Throughput } from './throughput.ts';

const lookupAim = 20;

interface RateReport {
  perSecond: number;
  cpuMicrosecondsPerRequest: number;
  p50: number;
  p99: number;
}

interface ThroughputReport {
  name: string;
  bodyBytes: number;
  /** Median of the pairs' ratios of requests per second: the service's by the constant buffer's. */
  ratio: number;
  aim: number | undefined;
  /** Pair by pair. */
  ratios: number[];
  /** The same by processor time of the server for one request. */
  cpuRatio: number;
  service: RateReport;
  constant: RateReport;
}

/** Milliseconds. */
export interface LookupReport {
  clicks: number;
  median: number;
  p99: number;
  aim: number;
  medians: number[];
  failed: number;
}

export interface ServingReport extends Omit<ServingResults, 'throughput' | 'lookups'> {
  throughput: ThroughputReport[];
  lookups: LookupReport;
}

export function servingReport({ throughput, lookups, ...rest }: ServingResults): ServingReport {
  return { ...rest, throughput: throughput.map(throughputReport), lookups: lookupReport(lookups) };
}

export function lookupReport({ clicks, rounds }: Lookups): LookupReport {
  const medians = rounds.map(({ p50 }) => p50);
  return {
    clicks,
    median: median(medians),
    p99: Math.max(...rounds.map(({ p99 }) => p99)),
    aim: lookupAim,
    medians,
    failed: rounds.reduce((sum, { failed }) => sum + failed, 0),
  };
}

function throughputReport({ name, bodyBytes, aim, rounds }: Throughput): ThroughputReport {
  const ratios = rounds.map(({ first, second }) => perSecond(first) / perSecond(second));
  return {
    name,
    bodyBytes,
    aim,
    ratios,
    ratio: median(ratios),
    cpuRatio: median(
      rounds.map(({ first, second }) => second.cpuMicrosecondsPerRequest / first.cpuMicrosecondsPerRequest),
    ),
    service: rateReport(rounds.map(({ first }) => first)),
    constant: rateReport(rounds.map(({ second }) => second)),
  };
}

function perSecond({ requests, seconds }: Load): number {
  return requests / seconds;
}

function rateReport(loads: readonly MeasuredLoad[]): RateReport {
  const medianBy = (value: (load: MeasuredLoad) => number) => median(loads.map(value));
  return {
    perSecond: medianBy(perSecond),
    cpuMicrosecondsPerRequest: medianBy((load) => load.cpuMicrosecondsPerRequest),
    p50: medianBy(({ p50 }) => p50),
    p99: medianBy(({ p99 }) => p99),
  };
}

/** Rows of the table of measures: what was reached beside each aim. */
export function servingMeasures({ throughput, latencies, lookups }: ServingReport): Record<string, string>[] {
  const { ratePerSecond, quiet, refreshing, switching } = latencies;
  return [
    ...throughput.map(({ name, bodyBytes, ratio, aim, ratios, cpuRatio }) => ({
      measure: `serve  ${name} / constant ${kilobytes(bodyBytes)}`,
      reached: ratio.toFixed(2),
      aim: aim === undefined ? '-' : `>= ${aim}`,
      'by CPU time': cpuRatio.toFixed(2),
      rounds: ratios.map((each) => each.toFixed(2)).join(' '),
    })),
    latencyRow(`serve  p99 at ${ratePerSecond}/s, nothing else going on`, quiet),
    latencyRow('serve  p99 while refreshes run', refreshing),
    latencyRow('serve  p99 while the snapshot is switched', switching),
    lookupMeasure(lookups),
  ];
}

export function lookupMeasure({
  clicks,
  median: reached,
  p99,
  aim,
  medians,
  failed,
}: LookupReport): Record<string, string> {
  return {
    measure: `serve  one click among ${clicks}, median`,
    reached: `${reached.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms${failures(failed)}`,
    aim: `<= ${aim} ms`,
    'by CPU time': '-',
    rounds: medians.map((each) => each.toFixed(1)).join(' '),
  };
}

function latencyRow(measure: string, { p99, failed, requests }: Load) {
  return {
    measure,
    reached: `${p99.toFixed(1)} ms, ${failed} of ${requests} failed`,
    aim: '0 failed',
    'by CPU time': '-',
    rounds: '-',
  };
}

function failures(failed: number): string {
  return failed === 0 ? '' : `, ${failed} failed`;
}

/** Paragraphs behind the table: where the ratios come from. */
export function servingRuns({ pinned, catalog, throughput, latencies, lookups }: ServingReport): string[] {
  const rows = throughput.flatMap(({ name, bodyBytes, service, constant }) => [
    { load: name, ...rateCells(service) },
    { load: `  constant ${kilobytes(bodyBytes)}`, ...rateCells(constant) },
  ]);
  const { quiet, refreshing, refreshSeconds, switching } = latencies;
  const happenings = [
    ['nothing else', quiet],
    ['refreshes', refreshing],
    ['switches', switching],
  ] as const;
  return [
    `Serving: ${pinned ? 'server and client with a core each' : 'server and client not pinned: no taskset, or one core'}; random filters and latencies on ${catalog.offers} offers and ${catalog.sites} sites.`,
    table(rows),
    '',
    ...happenings.map(
      ([name, { p50, p99, longest, switches }]) =>
        `Latency with ${name}: median ${p50.toFixed(1)}, p99 ${p99.toFixed(1)}, longest ${longest.toFixed(0)} ms; ${switches} new snapshots taken up.`,
    ),
    `Refreshes beside it took ${refreshSeconds.map((each) => each.toFixed(1)).join(' ')} s. Click lookup: p99 ${lookups.p99.toFixed(1)} ms.`,
  ];
}

function rateCells({ perSecond: rate, cpuMicrosecondsPerRequest, p50, p99 }: RateReport) {
  return {
    'requests/s': rate.toFixed(0),
    'server CPU µs each': cpuMicrosecondsPerRequest.toFixed(0),
    'median ms': p50.toFixed(2),
    'p99 ms': p99.toFixed(2),
  };
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} kB`;
}
