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
  /** One measure, or those of the service, alone; memory comes with a. `lookup` is measured when asked for only. */
  only?: 'a' | 'b' | 'messy' | 'conversions' | 'served' | 'catalog' | 'serve' | 'lookup' | 'postbacks';
  json?: boolean;
}

/** Reads the words behind `npm run bench --`. Throws commander's error for wrong ones, and after printing help. */
export function parseBenchOptions(
  words: readonly string[],
  write: (text: string) => void = (text) => void process.stderr.write(text),
): BenchOptions {
  return new Command('npm run bench --')
    .description(
      'Measures the refresh pipeline and the HTTP service on generated clicks, and the delivery of postbacks, as ratios of runs that take turns. Generated data goes to the folder for temporary files.',
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
    .addOption(
      new Option(
        '--only <measure>',
        'a: the whole refresh against a bare COPY, and memory; b: a small refresh on a long history against a short one; messy: logs in several formats with duplicates and bad rows against clean ones; conversions: a row of conversions against a row of clicks; served: from the landing of a file to its being served, with all clicks as history; catalog: a catalog of 50,000 offers against a bare read of its file; serve: the HTTP service against constant buffers; lookup: one click among all of --clicks, on compacted days; postbacks: a delivery pass against a bare loop of requests',
      ).choices(['a', 'b', 'messy', 'conversions', 'served', 'catalog', 'serve', 'lookup', 'postbacks']),
    )
    .option('--json', 'print one JSON document on standard output')
    .configureOutput({ writeOut: write, writeErr: write })
    .exitOverride()
    .parse(words, { from: 'user' })
    .opts<BenchOptions>();
}
