import type { Command } from 'commander';
import { generate } from '../../../demo/generate/generate.ts';
import { dateOf, momentOption } from '../../../kit/time/moment.ts';
import { addCommand, printAnswer, wholeNumber } from '../../answer.ts';
import type { CommandContext } from '../../context.ts';

interface GenerateCommandOptions {
  clicks: number;
  days: number;
  seed: number;
  out: string;
  end?: string;
  clean?: boolean;
  json?: boolean;
}

export function addGenerateCommand(program: Command, context: CommandContext): void {
  addCommand(program, 'generate', 'Fills a new data directory with a believable network, the same for the same options')
    .requiredOption('--out <dir>', 'data directory to fill')
    .option('--clicks <n>', 'number of different clicks', wholeNumber(1), 30_000)
    .option('--days <n>', 'calendar days up to the end', wholeNumber(1, 3660), 3)
    .option('--seed <n>', 'seed of everything random', wholeNumber(0, 2 ** 32 - 1), 1)
    .option('--end <time>', 'moment of the last event at the latest, such as 2026-11-18T10:00:00Z (default: now)')
    .option('--clean', 'without duplicates, rows to be rejected and a broken file')
    .action(async (options: GenerateCommandOptions) => {
      const { progress } = context.terminal;
      progress.start('generating clicks', options.clicks);
      try {
        const summary = await generate(
          {
            out: options.out,
            seed: options.seed,
            clicks: options.clicks,
            days: options.days,
            end: options.end === undefined ? new Date() : dateOf(momentOption(options.end, '--end')),
            messy: options.clean !== true,
          },
          (done) => progress.advance(done),
        );
        printAnswer(
          context,
          options,
          summary,
          [
            `${summary.out}: traffic from ${summary.from} to ${summary.to}`,
            `  ${summary.sites} sites, ${summary.offers.accepted} offers in ${summary.offers.files} files`,
            `  ${summary.clicks.rows} click rows in ${summary.clicks.files} files, ${summary.conversions.rows} conversion rows in ${summary.conversions.files} files`,
          ].join('\n'),
        );
      } finally {
        progress.finish();
      }
    });
}
