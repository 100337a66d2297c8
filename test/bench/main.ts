/** `npm run bench`: measures with an aim, as ratios of runs that take turns. */
import { Command, CommanderError, Option } from 'commander';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { textTable, wholeNumber } from '../../src/cli/answer.ts';
import { exitCode } from '../../src/kit/errors/errors.ts';
import { createTerminal } from '../../src/kit/logging/progress.ts';
import type { Bench, BenchOptions, Measure } from './bench.ts';
import { measureCatalog } from './catalog.ts';
import { measureConsole } from './console/console.ts';
import { measureConversionRows, measureHistory, measureMessyLogs, measureRefreshes } from './refresh.ts';
import { measureLandedToServed } from './landed-to-served.ts';
import { measureMappedLogs } from './mapped.ts';
import { measurePostbacks } from './postbacks/postbacks.ts';
import { measureQuietRuns } from './quiet.ts';
import { measureRunsOfADay } from './runs-of-a-day.ts';
import { measureServing } from './serve/serving.ts';
import { measureTracking } from './track/tracking.ts';

const measures: Record<string, (bench: Bench) => Promise<Measure[]>> = {
  refresh: measureRefreshes,
  history: measureHistory,
  messy: measureMessyLogs,
  mapped: measureMappedLogs,
  conversions: measureConversionRows,
  catalog: measureCatalog,
  quiet: measureQuietRuns,
  runs: measureRunsOfADay,
  served: measureLandedToServed,
  serve: measureServing,
  postbacks: measurePostbacks,
  track: measureTracking,
  console: measureConsole,
};

const terminal = createTerminal();
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => stop.abort(new Error(`stopped by ${signal}`)));

try {
  const { only, json, ...options } = readOptions(process.argv.slice(2));
  if (options.quick) terminal.logger.warn('quick: small data; the aims are of the usual sizes');
  const folder = await mkdtemp(join(tmpdir(), 'offerline-bench-'));
  const results: Measure[] = [];
  try {
    for (const [name, measure] of Object.entries(measures)) {
      if (only !== undefined && only !== name) continue;
      terminal.logger.info(options, `measuring ${name}`);
      results.push(...(await measure({ options, folder, terminal, signal: stop.signal })));
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  process.stdout.write(
    `${json === true ? JSON.stringify(results, null, 2) : textTable(results.map((row) => ({ ...row })))}\n`,
  );
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? exitCode.done : exitCode.usage;
  } else {
    terminal.logger.error(((stop.signal.aborted ? stop.signal.reason : error) as Error).message);
    process.exitCode = exitCode.failed;
  }
}

/** Throws commander's error for wrong words, and after printing help. */
function readOptions(words: readonly string[]): BenchOptions & { only?: string; json?: boolean } {
  const given = new Command('npm run bench --')
    .description(
      'Measures what has an aim; the console on 60 days of a million clicks, whatever --clicks says. Generated data goes to the folder for temporary files.',
    )
    .option('--clicks <n>', 'clicks on all days together (default: 2000000)', wholeNumber(1000, 1_000_000_000))
    .option('--days <n>', 'days that the clicks are spread over (default: 10)', wholeNumber(2, 366))
    .option('--rounds <n>', 'pairs measured; medians count (default: 3)', wholeNumber(1, 100))
    .option('--seed <n>', 'seed of the generated data', wholeNumber(0, 2 ** 32 - 2), 1)
    .addOption(new Option('--only <measure>', 'one of the measures').choices(Object.keys(measures)))
    .option('--quick', 'small data, to see that a measure works: its aim is of the usual sizes')
    .option('--json', 'print one JSON document on standard output')
    .exitOverride()
    .parse(words, { from: 'user' })
    .opts<Partial<BenchOptions> & { seed: number }>();
  const sizes = given.quick ? { clicks: 100_000, days: 2, rounds: 1 } : { clicks: 2_000_000, days: 10, rounds: 3 };
  return { quick: false, ...sizes, ...given };
}
