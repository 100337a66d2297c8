import { version as duckdbVersion } from '@duckdb/node-api';
import { cpus } from 'node:os';
import { table } from '../../src/cli/answer.ts';
import { defaultSettings } from '../../src/kit/config/settings.ts';
import { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { duckdbOptions, thisMachine } from '../../src/kit/duckdb/duckdb-options.ts';
import { catalogSize, type CatalogRounds } from './catalog.ts';
import type { ConsoleResults } from './console/measure.ts';
import { consoleMeasures, consoleReport, consoleRuns, type ConsoleReport } from './console/report.ts';
import type { ConversionRound } from './conversion-rows.ts';
import { newClicks, type HistoryRound } from './growing-history.ts';
import type { Measured } from './measured-process.ts';
import type { MeasuredRefresh } from './measured-refresh.ts';
import type { BenchOptions } from './options.ts';
import type { PostbackResults } from './postbacks/measure.ts';
import { postbackMeasures, postbackReport, postbackRuns, type PostbackReport } from './postbacks/report.ts';
import { median, medianOf, type Pair } from './rounds.ts';
import type { Lookups } from './serve/latency.ts';
import type { ServingResults } from './serve/measure.ts';
import {
  lookupMeasure,
  lookupReport,
  servingMeasures,
  servingReport,
  servingRuns,
  type LookupReport,
  type ServingReport,
} from './serve/report.ts';
import type { TrackResults } from './track/measure.ts';
import { trackMeasures, trackReport, trackRuns, type TrackReport } from './track/report.ts';
import type { WholeRefreshRound } from './whole-refresh.ts';

export interface BenchResults {
  whole?: WholeRefreshRound[];
  history?: HistoryRound[];
  messy?: Pair<MeasuredRefresh, MeasuredRefresh>[];
  conversions?: ConversionRound[];
  /** Seconds, of each file that landed. */
  landedToServed?: number[];
  catalog?: CatalogRounds;
  serving?: ServingResults;
  /** In a long history. */
  lookups?: Lookups;
  postbacks?: PostbackResults;
  tracking?: TrackResults;
  console?: ConsoleResults;
}

export const aims = {
  wholeRefresh: 3,
  /** Of so many clicks, where fixed costs count for nothing. */
  wholeLargeRefresh: { clicks: 20_000_000, aim: 2.5 },
  growingHistory: 1.15,
  messy: 1.5,
  landedToServedSeconds: 3,
  conversions: 3,
  catalogFirst: 15,
  catalogChanged: 10,
};

interface RatioReport {
  /** Median of the pairs' ratios of wall time. */
  ratio: number;
  aim: number;
  /** Wall time, pair by pair. */
  ratios: number[];
  /** Median of the pairs' ratios of processor time, which a busy machine distorts less. */
  cpuRatio: number | undefined;
}

interface RunReport {
  seconds: number;
  cpuSeconds: number;
  peakBytes: number;
  /** Seconds by stage of the run with the median time. */
  stages?: Record<string, number>;
}

export interface BenchReport {
  options: BenchOptions;
  machine: {
    processors: number;
    model: string;
    memoryBytes: number;
    node: string;
    duckdb: string;
    duckdbMemoryLimit: string;
    duckdbThreads: string;
  };
  wholeRefresh?: RatioReport & { refresh: RunReport; bareCopy: RunReport };
  growingHistory?: RatioReport & { newClicks: number; long: RunReport; short: RunReport };
  messy?: RatioReport & { messy: RunReport; clean: RunReport };
  conversions?: RatioReport & { conversionMicroseconds: number; clickMicroseconds: number };
  catalog?: Record<'first' | 'changed', RatioReport & { refresh: RunReport; bareRead: RunReport }>;
  /** Seconds, of each file that landed. */
  landedToServed?: number[];
  /** Largest resident set of the whole refresh in any round. */
  peakBytes?: number;
  serving?: ServingReport;
  lookups?: LookupReport;
  postbacks?: PostbackReport;
  tracking?: TrackReport;
  console?: ConsoleReport;
}

export function benchReport(
  options: BenchOptions,
  {
    whole,
    history,
    messy,
    conversions,
    landedToServed,
    catalog,
    serving,
    lookups,
    postbacks,
    tracking,
    console,
  }: BenchResults,
): BenchReport {
  return {
    options,
    machine: machineFacts(),
    ...(whole && {
      wholeRefresh: {
        ...ratioReport(
          whole,
          options.clicks >= aims.wholeLargeRefresh.clicks ? aims.wholeLargeRefresh.aim : aims.wholeRefresh,
        ),
        refresh: refreshReport(whole.map(({ first }) => first)),
        bareCopy: runReport(whole.map(({ second }) => second)),
      },
      peakBytes: Math.max(...whole.map(({ first }) => first.peakBytes)),
    }),
    ...(history && {
      growingHistory: {
        ...ratioReport(history, aims.growingHistory),
        newClicks,
        long: refreshReport(history.map(({ first }) => first)),
        short: refreshReport(history.map(({ second }) => second)),
      },
    }),
    ...(messy && {
      messy: {
        ...ratioReport(messy, aims.messy),
        messy: refreshReport(messy.map(({ first }) => first)),
        clean: refreshReport(messy.map(({ second }) => second)),
      },
    }),
    ...(conversions && { conversions: conversionsReport(conversions) }),
    ...(landedToServed && { landedToServed }),
    ...(catalog && {
      catalog: {
        first: catalogReport(catalog.first, aims.catalogFirst),
        changed: catalogReport(catalog.changed, aims.catalogChanged),
      },
    }),
    ...(lookups && { lookups: lookupReport(lookups) }),
    ...(serving && { serving: servingReport(serving) }),
    ...(postbacks && { postbacks: postbackReport(postbacks) }),
    ...(tracking && { tracking: trackReport(tracking) }),
    ...(console && { console: consoleReport(console) }),
  };
}

function ratioReport(pairs: readonly Pair<Measured, Measured>[], aim: number): RatioReport {
  const ratios = pairs.map(({ first, second }) => first.seconds / second.seconds);
  return {
    ratio: median(ratios),
    aim,
    ratios,
    cpuRatio: median(pairs.map(({ first, second }) => first.cpuSeconds / second.cpuSeconds)),
  };
}

function conversionsReport(rounds: readonly ConversionRound[]): NonNullable<BenchReport['conversions']> {
  const ratios = rounds.map(
    ({ conversionMicroseconds, clickMicroseconds }) => conversionMicroseconds / clickMicroseconds,
  );
  return {
    ratio: median(ratios),
    aim: aims.conversions,
    ratios,
    cpuRatio: undefined,
    conversionMicroseconds: median(rounds.map((round) => round.conversionMicroseconds)),
    clickMicroseconds: median(rounds.map((round) => round.clickMicroseconds)),
  };
}

function catalogReport(pairs: CatalogRounds['first'], aim: number) {
  return {
    ...ratioReport(pairs, aim),
    refresh: refreshReport(pairs.map(({ first }) => first)),
    bareRead: runReport(pairs.map(({ second }) => second)),
  };
}

function runReport(runs: readonly Measured[]): RunReport {
  return {
    seconds: median(runs.map(({ seconds }) => seconds)),
    cpuSeconds: median(runs.map(({ cpuSeconds }) => cpuSeconds)),
    peakBytes: Math.max(...runs.map(({ peakBytes }) => peakBytes)),
  };
}

function refreshReport(runs: readonly MeasuredRefresh[]): RunReport {
  const { stages, seconds } = medianOf(runs, (run) => run.seconds);
  const inStages = Object.values(stages).reduce((sum, part) => sum + part, 0);
  return { ...runReport(runs), stages: { ...stages, 'start and end': seconds - inStages } };
}

function machineFacts(): BenchReport['machine'] {
  const { memory, processors } = thisMachine();
  // Of a data directory without settings of its own, as the generated ones are.
  const { memory_limit = '', threads = '' } = duckdbOptions(new DataDirectory('.'), defaultSettings);
  return {
    processors,
    model: cpus()[0]?.model ?? 'unknown',
    memoryBytes: memory,
    node: process.version,
    duckdb: duckdbVersion(),
    duckdbMemoryLimit: memory_limit,
    duckdbThreads: threads,
  };
}

/** For people: what was reached beside each aim, then where the time went. */
export function reportText({
  options,
  machine,
  wholeRefresh,
  growingHistory,
  messy,
  conversions,
  landedToServed,
  catalog,
  peakBytes,
  serving,
  lookups,
  postbacks,
  tracking,
  console,
}: BenchReport): string {
  const measures: Record<string, string>[] = [];
  if (wholeRefresh)
    measures.push({ measure: 'a  whole refresh / bare COPY of its click files', ...ratioCells(wholeRefresh) });
  if (growingHistory)
    measures.push({
      measure: `b  ${newClicks} new clicks: on ${options.days} days / on ${options.shortDays}`,
      ...ratioCells(growingHistory),
    });
  if (messy) measures.push({ measure: 'whole refresh of messy logs / of clean ones', ...ratioCells(messy) });
  if (conversions)
    measures.push({
      measure: `ingest of a conversion (${conversions.conversionMicroseconds.toFixed(1)} µs) / of a click (${conversions.clickMicroseconds.toFixed(1)} µs)`,
      ...ratioCells(conversions),
    });
  if (landedToServed) {
    const sorted = landedToServed.toSorted((a, b) => a - b);
    measures.push({
      measure: `seconds from landed to served, 95th percentile of ${sorted.length} files`,
      reached: (sorted[Math.ceil(0.95 * sorted.length) - 1] as number).toFixed(2),
      aim: `<= ${aims.landedToServedSeconds}`,
      'by CPU time': '-',
      rounds: `median ${median(sorted).toFixed(2)}`,
    });
  }
  if (catalog)
    measures.push(
      { measure: `catalog of ${catalogSize} offers, first / bare read of its file`, ...ratioCells(catalog.first) },
      { measure: 'catalog, 1 % changed / bare read', ...ratioCells(catalog.changed) },
    );
  if (peakBytes !== undefined)
    measures.push({
      measure: 'c  peak memory of the whole refresh',
      reached: gibibytes(peakBytes),
      aim: '-',
      'by CPU time': '-',
      rounds: '-',
    });
  if (serving) measures.push(...servingMeasures(serving));
  if (lookups) measures.push(lookupMeasure(lookups));
  if (postbacks) measures.push(...postbackMeasures(postbacks));
  if (tracking) measures.push(...trackMeasures(tracking));
  if (console) measures.push(...consoleMeasures(console));
  const runs: Record<string, string>[] = [];
  if (wholeRefresh)
    runs.push(
      { run: 'whole refresh', ...runCells(wholeRefresh.refresh) },
      { run: 'bare COPY', ...runCells(wholeRefresh.bareCopy) },
    );
  if (growingHistory)
    runs.push(
      { run: `new clicks on ${options.days} days`, ...runCells(growingHistory.long) },
      { run: `new clicks on ${options.shortDays} days`, ...runCells(growingHistory.short) },
    );
  if (messy)
    runs.push({ run: 'messy logs', ...runCells(messy.messy) }, { run: 'clean logs', ...runCells(messy.clean) });
  if (catalog)
    runs.push(
      { run: 'catalog, first', ...runCells(catalog.first.refresh) },
      { run: 'catalog, 1 % changed', ...runCells(catalog.changed.refresh) },
      { run: 'bare read of a catalog', ...runCells(catalog.first.bareRead) },
    );
  return [
    `${options.clicks} clicks on ${options.days} days, seed ${options.seed}, ${options.rounds} rounds`,
    `${machine.processors} processors (${machine.model}), ${gibibytes(machine.memoryBytes)} memory, Node ${machine.node}, DuckDB ${machine.duckdb} with ${machine.duckdbThreads} threads and ${machine.duckdbMemoryLimit}`,
    '',
    table(measures),
    ...(runs.length > 0
      ? ['', 'Median seconds, the largest peak memory, and the seconds of each stage in the median run:', table(runs)]
      : []),
    ...(serving ? ['', ...servingRuns(serving)] : []),
    ...(postbacks ? ['', ...postbackRuns(postbacks)] : []),
    ...(tracking ? ['', ...trackRuns(tracking)] : []),
    ...(console ? ['', ...consoleRuns(console)] : []),
  ].join('\n');
}

function ratioCells({ ratio, aim, ratios, cpuRatio }: RatioReport) {
  return {
    reached: ratio.toFixed(2),
    aim: `<= ${aim}`,
    'by CPU time': cpuRatio?.toFixed(2) ?? '-',
    rounds: ratios.map((each) => each.toFixed(2)).join(' '),
  };
}

function runCells({ seconds, cpuSeconds, peakBytes, stages = {} }: RunReport) {
  return {
    seconds: seconds.toFixed(2),
    'CPU seconds': cpuSeconds.toFixed(2),
    'peak memory': gibibytes(peakBytes),
    stages:
      Object.entries(stages)
        .map(([stage, part]) => `${stage} ${part.toFixed(2)}`)
        .join(', ') || '-',
  };
}

function gibibytes(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(2)} GiB`;
}
