import { Command, Option } from 'commander';
import { wholeNumber } from '../../src/cli/answer.ts';

export interface BenchOptions {
  /** Clicks on all days together. */
  clicks: number;
  /** Calendar days that they are spread over; the long history of measure b. */
  days: number;
  /** Calendar days of the short history of measure b, with as many clicks a day. */
  shortDays: number;
  /** Pairs that are measured; medians are taken over them. */
  rounds: number;
  seed: number;
  /** How long the tracker's memory is watched. */
  minutes: number;
  /**
   * One measure, or those of the service, alone; memory comes with a. `lookup` and `console` are measured when asked for
   * only.
   */
  only?:
    'a' | 'b' | 'messy' | 'conversions' | 'served' | 'catalog' | 'serve' | 'lookup' | 'postbacks' | 'track' | 'console';
  json?: boolean;
}

/** Reads the words behind `npm run bench --`. Throws commander's error for wrong ones, and after printing help. */
export function parseBenchOptions(
  words: readonly string[],
  write: (text: string) => void = (text) => void process.stderr.write(text),
): BenchOptions {
  const command = new Command('npm run bench --')
    .description(
      'Measures the refresh pipeline and the HTTP service on generated clicks, the delivery of postbacks and the tracker, as ratios of runs that take turns. Generated data goes to the folder for temporary files.',
    )
    .option('--clicks <n>', 'clicks on all days together', wholeNumber(1000, 1_000_000_000), 2_000_000)
    .option('--days <n>', 'days that the clicks are spread over', wholeNumber(2, 366), 10)
    .option(
      '--short-days <n>',
      'days of the short history that the long one is measured against',
      wholeNumber(1, 366),
      1,
    )
    .option('--rounds <n>', 'pairs measured; medians count', wholeNumber(1, 100), 3)
    .option('--seed <n>', 'seed of the generated data', wholeNumber(0, 2 ** 32 - 2), 1)
    .option('--minutes <n>', 'minutes for which the memory of the tracker is watched', wholeNumber(1, 1440), 2)
    .addOption(
      new Option(
        '--only <measure>',
        'a: the whole refresh against a bare COPY, and memory; b: a small refresh on a long history against a short one; messy: logs in several formats with duplicates and bad rows against clean ones; conversions: a row of conversions against a row of clicks; served: from the landing of a file to its being served, with all clicks as history; catalog: a catalog of 50,000 offers against a bare read of its file; serve: the HTTP service against constant buffers; lookup: one click among all of --clicks, on compacted days; postbacks: a delivery pass against a bare loop of requests; track: clicks at the tracker against a bare redirect; console: its pages asked for the first time, and publishers beside them, on 60 days of a million clicks where --clicks and --days say nothing',
      ).choices([
        'a',
        'b',
        'messy',
        'conversions',
        'served',
        'catalog',
        'serve',
        'lookup',
        'postbacks',
        'track',
        'console',
      ]),
    )
    .option('--json', 'print one JSON document on standard output')
    .configureOutput({ writeOut: write, writeErr: write })
    .exitOverride()
    .parse(words, { from: 'user' });
  const options = command.opts<BenchOptions>();
  return options.only === 'console' ? { ...options, ...asGiven(command, consoleHistory) } : options;
}

/** The history that the console's budget is of. */
const consoleHistory = { clicks: 60_000_000, days: 60 };

/** These values, but for the options that were given. */
function asGiven(command: Command, values: Partial<BenchOptions>): Partial<BenchOptions> {
  return Object.fromEntries(
    Object.entries(values).filter(([name]) => command.getOptionValueSource(name) === 'default'),
  );
}
