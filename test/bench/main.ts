import { CommanderError } from 'commander';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exitCode } from '../../src/kit/errors/errors.ts';
import { createTerminal } from '../../src/kit/logging/progress.ts';
import { generateLogs, historyEnd, type Bench } from './bench.ts';
import { measureCatalog } from './catalog.ts';
import { measureConsole } from './console/measure.ts';
import { measureConversionRows } from './conversion-rows.ts';
import { measureGrowingHistory } from './growing-history.ts';
import { measureLandedToServed } from './landed-to-served.ts';
import { measureMessyLogs } from './messy-logs.ts';
import { parseBenchOptions, type BenchOptions } from './options.ts';
import { measurePostbacks } from './postbacks/measure.ts';
import { benchReport, reportText, type BenchReport, type BenchResults } from './report.ts';
import { measureLongLookups, measureServing } from './serve/measure.ts';
import { measureTracking } from './track/measure.ts';
import { measureWholeRefresh } from './whole-refresh.ts';

const terminal = createTerminal();
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => stop.abort(new Error(`stopped by ${signal}`)));

try {
  const options = parseBenchOptions(process.argv.slice(2), (text) => void process.stdout.write(text));
  const report = await runBench(options);
  process.stdout.write(`${options.json ? JSON.stringify(report, null, 2) : reportText(report)}\n`);
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? exitCode.done : exitCode.usage;
  } else {
    const { message } = stop.signal.aborted ? (stop.signal.reason as Error) : (error as Error);
    terminal.logger.error(message);
    process.exitCode = exitCode.failed;
  }
}

async function runBench(options: BenchOptions): Promise<BenchReport> {
  const folder = await mkdtemp(join(tmpdir(), 'offerline-bench-'));
  try {
    const bench: Bench = { options, folder, terminal, signal: stop.signal };
    return benchReport(options, {
      ...((options.only === undefined ||
        ['a', 'b', 'messy', 'conversions', 'served', 'serve'].includes(options.only)) &&
        (await measureOnClicks(bench))),
      ...(wants(options, 'catalog') && { catalog: await measureCatalog(bench) }),
      // These two only when asked for: their time is that of writing the history.
      ...(options.only === 'lookup' && { lookups: await measureLongLookups(bench) }),
      ...(options.only === 'console' && { console: await measureConsole(bench) }),
      ...(wants(options, 'postbacks') && { postbacks: await measurePostbacks(bench) }),
      ...(wants(options, 'track') && { tracking: await measureTracking(bench) }),
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function measureOnClicks(bench: Bench): Promise<BenchResults> {
  const { options } = bench;
  const logs = await generateLogs(bench, 'all-days', { clicks: options.clicks, days: options.days, end: historyEnd });
  return {
    ...(wants(options, 'a') && { whole: await measureWholeRefresh(bench, logs) }),
    ...(wants(options, 'b') && { history: await measureGrowingHistory(bench, logs) }),
    ...(wants(options, 'messy') && { messy: await measureMessyLogs(bench, logs) }),
    ...(wants(options, 'conversions') && { conversions: await measureConversionRows(bench, logs) }),
    ...(wants(options, 'served') && { landedToServed: await measureLandedToServed(bench, logs) }),
    ...(wants(options, 'serve') && { serving: await measureServing(bench, logs) }),
  };
}

function wants({ only }: BenchOptions, measure: NonNullable<BenchOptions['only']>): boolean {
  return only === undefined || only === measure;
}
