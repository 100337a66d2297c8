import { table } from '../../../src/cli/answer.ts';
import { median } from '../rounds.ts';
import type { ConsoleResults } from './measure.ts';
import { synthetic } from './long-network.ts';
import type { ColdAnswer } from './pages.ts';

export const consoleAims = { p95: 100, statements: 4, kilobytes: 150, publishersWorse: 2 };

/** Milliseconds where nothing else is said. */
interface PageReport {
  page: string;
  requests: number;
  /** Other answers than pages: what took too long, or was not there. */
  refused: number;
  median: number;
  p95: number;
  cpuMedian: number;
  cpuP95: number;
  bareMedian: number;
  /** Median of the ratios of a page to its bare statements, where it has any. */
  ratio: number | undefined;
  statements: number;
  bytes: number;
}

export interface ConsoleReport extends Omit<ConsoleResults, 'answers' | 'publishers'> {
  pages: PageReport[];
  all: PageReport;
  publishers: { alone: number[]; beside: number[]; worse: number; pages: number; refused: number };
}

export function consoleReport({ answers, publishers, ...rest }: ConsoleResults): ConsoleReport {
  const alone = publishers.map(({ first }) => first.load.p99);
  const beside = publishers.map(({ second }) => second.load.p99);
  const shown = publishers.flatMap(({ second }) => second.pages);
  return {
    ...rest,
    pages: [...Map.groupBy(answers, ({ path }) => path)].map(([path, of]) => pageReport(path, of)),
    all: pageReport('all', answers),
    publishers: {
      alone,
      beside,
      worse: median(publishers.map(({ first, second }) => second.load.p99 - first.load.p99)),
      pages: shown.length,
      refused: shown.filter(({ status }) => status >= 400).length,
    },
  };
}

function pageReport(page: string, answers: readonly ColdAnswer[]): PageReport {
  const milliseconds = answers.map((answer) => answer.milliseconds);
  const cpu = answers.map(({ cpuMilliseconds }) => cpuMilliseconds);
  const asking = answers.filter(({ statements, status }) => statements > 0 && status < 400);
  return {
    page,
    requests: answers.length,
    refused: answers.filter(({ status }) => status >= 400).length,
    median: median(milliseconds),
    p95: percentile95(milliseconds),
    cpuMedian: median(cpu),
    cpuP95: percentile95(cpu),
    bareMedian: median(answers.map(({ bareMilliseconds }) => bareMilliseconds)),
    ratio:
      asking.length === 0 ? undefined : median(asking.map((answer) => answer.milliseconds / answer.bareMilliseconds)),
    statements: Math.max(...answers.map(({ statements }) => statements)),
    bytes: Math.max(...answers.map(({ bytes }) => bytes)),
  };
}

function percentile95(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(0.95 * values.length) - 1] as number;
}

/** Rows of the table of measures. */
export function consoleMeasures(report: ConsoleReport): Record<string, string>[] {
  const { all, publishers, clicks } = report;
  const row = (measure: string, reached: string, aim: string, cpu = '-', rounds = '-') => ({
    measure: `console  ${measure}`,
    reached,
    aim,
    'by CPU time': cpu,
    rounds,
  });
  return [
    row(
      `95th percentile of ${all.requests} cold pages on ${clicks} clicks`,
      `${all.p95.toFixed(0)} ms, ${all.refused} refused`,
      `<= ${consoleAims.p95} ms`,
      `${all.cpuP95.toFixed(0)} ms`,
    ),
    row('page / its bare statements, median', (all.ratio ?? Number.NaN).toFixed(2), '-'),
    row('statements of a page, most', String(all.statements), `<= ${consoleAims.statements}`),
    row('bytes of a page, most', `${(all.bytes / 1000).toFixed(0)} kB`, `<= ${consoleAims.kilobytes} kB`),
    row(
      `publishers' p99 at ${report.ratePerSecond}/s, worse under ${report.pagesPerSecond} pages a second by`,
      `${publishers.worse.toFixed(1)} ms`,
      `<= ${consoleAims.publishersWorse} ms`,
      '-',
      publishers.alone.map((each, place) => `${each.toFixed(1)}/${publishers.beside[place]?.toFixed(1)}`).join(' '),
    ),
  ];
}

/** Paragraphs behind the table: what each page takes. */
export function consoleRuns({ pages, loads, publishers }: ConsoleReport): string[] {
  return [
    synthetic,
    `Load of the machine before and after: ${loads.map((each) => each.toFixed(1)).join(', ')}.`,
    table(
      pages.map((page) => ({
        page: page.page,
        requests: String(page.requests),
        refused: String(page.refused),
        'median ms': page.median.toFixed(0),
        'p95 ms': page.p95.toFixed(0),
        'CPU median ms': page.cpuMedian.toFixed(0),
        'CPU p95 ms': page.cpuP95.toFixed(0),
        'bare median ms': page.bareMedian.toFixed(0),
        'page / bare': page.ratio?.toFixed(2) ?? '-',
        statements: String(page.statements),
        kB: (page.bytes / 1000).toFixed(0),
      })),
    ),
    `Beside publishers ${publishers.pages} pages were asked for; ${publishers.refused} were refused.`,
  ];
}
