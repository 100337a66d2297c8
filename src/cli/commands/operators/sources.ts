import type { Command } from 'commander';
import { checkSources } from '../../../../pipelines/check-sources.ts';
import { planPull } from '../../../../pipelines/plans/plan-pull.ts';
import { pullSources } from '../../../../pipelines/pull.ts';
import { exitCode } from '../../../kit/errors/errors.ts';
import { PullLedger } from '../../../sources/pull-ledger.ts';
import { guardsOf } from '../../../sources/config/postback-settings.ts';
import { readSources } from '../../../sources/config/sources-file.ts';
import { addCommand, printAnswer, existingData, textTable, wholeNumber } from '../../answer.ts';
import type { CommandContext } from '../../context.ts';
import { lineWidth } from '../../line-width.ts';
import { sampledText } from '../../sampled-text.ts';
import { stopSignal } from '../../stop-signal.ts';
import { addNewSourceCommand } from './sources-new.ts';

export function addSourcesCommands(program: Command, context: CommandContext): void {
  const sources = program
    .command('sources')
    .description('Networks and S3-compatible storage of sources.json, and who reports conversions.');
  addListCommand(sources, context);
  addNewSourceCommand(sources, context);
  addCheckCommand(sources, context);
  addPullCommand(sources, context);
}

function addListCommand(sources: Command, context: CommandContext): void {
  addCommand(
    sources,
    'list',
    'Lists sources without their secrets: the time of the last whole pull, and what guards their postbacks',
  ).action((options: { json?: boolean }) => {
    const data = existingData();
    const { sources: known, warnings } = readSources(data);
    for (const warning of warnings) context.terminal.logger.warn(warning);
    const newest = PullLedger.read(data, (ledger) => ledger.newest());
    const shown = known.map(({ source, connector, every, postback }) => {
      const pulls = newest?.get(source);
      return {
        source,
        connector: connector ?? null,
        every: every ?? null,
        postback: postback === undefined ? null : guardsOf(postback),
        last_pull: pulls?.last.status ?? null,
        last_whole_pull_at: pulls?.whole?.finished_at ?? null,
        records: pulls?.whole?.records ?? null,
        error: pulls?.last.error ?? null,
      };
    });
    printAnswer(context, options, { sources: shown }, textTable(shown));
  });
}

function addCheckCommand(sources: Command, context: CommandContext): void {
  addCommand(
    sources,
    'check',
    'Asks each source for one page and reads the secrets of its postbacks',
    'So address, key and declaration are tried. It writes nothing. With --sample it also asks for conversions of networks that offerline knows.',
  )
    .argument('[source...]', 'sources to check (default: all)')
    .option(
      '--sample <number>',
      'records of each page that are shown beside what they become, and what is odd about the page',
      wholeNumber(1, 100),
    )
    .action(async (names: string[], options: { sample?: number; json?: boolean }) => {
      const { terminal } = context;
      const { sample } = options;
      const stop = stopSignal(terminal.logger);
      const checked = await checkSources({ data: existingData(), terminal, names, stop, sample });
      const listsConversions = checked.some(({ conversions }) => conversions !== undefined);
      const shown = checked.map(({ source, records, conversions, new_records, total, postback, error, first }) => ({
        source,
        on_page: records ?? null,
        new: new_records ?? null,
        in_all: total ?? null,
        ...(listsConversions ? { conversions: conversions?.records ?? null, left_out: reasonsOf(conversions) } : {}),
        postback: postback ?? null,
        error,
        ...(sample === undefined ? { first: first ?? conversions?.first ?? null } : {}),
      }));
      const samples = checked.flatMap(({ source, sampled }) =>
        sampled === undefined ? [] : [`${source}: ${sampledText(sampled, lineWidth())}`],
      );
      const cures = checked.flatMap(({ source, cure }) => (cure === undefined ? [] : [`${source}: ${cure}`]));
      const text = [textTable(shown), ...(cures.length === 0 ? [] : [cures.join('\n')]), ...samples].join('\n\n');
      printAnswer(context, options, { sources: checked }, text);
      if (checked.some(({ error }) => error !== null)) process.exitCode = exitCode.failed;
    });
}

function addPullCommand(sources: Command, context: CommandContext): void {
  addCommand(
    sources,
    'pull',
    'Fetches what is new of sources now',
    'Exits 1 where one failed; the files of the others stay.',
  )
    .argument('[source...]', 'sources to pull (default: all)')
    .option('--scheduled', 'as the schedule pulls: only sources that nobody pulls, without names those without `every`')
    .option('--dry-run', 'show which would be asked and for what; ask nobody and write nothing')
    .action(async (names: string[], options: { scheduled?: boolean; dryRun?: boolean; json?: boolean }) => {
      const { terminal } = context;
      if (options.dryRun) {
        const plan = await planPull({ data: existingData(), terminal, names, scheduled: options.scheduled === true });
        const shownPlan = plan.map(({ pulls, ...about }) => ({ ...about, pulls: pulls.join(', ') }));
        return printAnswer(context, options, { dry_run: true, sources: plan }, textTable(shownPlan));
      }
      const pulled = await pullSources({
        data: existingData(),
        terminal,
        names,
        scheduled: options.scheduled === true,
        stop: stopSignal(terminal.logger),
      });
      const shown = pulledRows(pulled);
      printAnswer(context, options, { sources: pulled }, textTable(shown));
      if (pulled.some(({ status }) => status !== 'done')) process.exitCode = exitCode.failed;
    });
}

type Pulled = Awaited<ReturnType<typeof pullSources>>[number];

/** Rows of a table of pulls, with columns of conversions where a source lists some. */
function pulledRows(pulled: readonly Pulled[]) {
  const sumOf = (counts: Record<string, number>) => Object.values(counts).reduce((sum, each) => sum + each, 0);
  const listConversions = pulled.some(({ conversions }) => conversions > 0);
  return pulled.map(({ source, status, pages, records, file, left_out, error, ...rest }) => ({
    source,
    status,
    pages,
    records,
    left_out: sumOf(left_out),
    file: file ?? (status === 'done' && rest.conversion_lines === 0 ? 'nothing new' : null),
    ...(listConversions && {
      conversions: rest.conversions,
      lines: rest.conversion_lines,
      without_line: sumOf(rest.conversions_left_out),
    }),
    error,
  }));
}

type Checked = Awaited<ReturnType<typeof checkSources>>[number];

/** Lists why records of a page are no conversions, each reason with their number. */
function reasonsOf(conversions: Checked['conversions']): string | null {
  const reasons = Object.entries(conversions?.left_out ?? {}).map(([reason, records]) => `${reason} ${records}`);
  return reasons.length === 0 ? null : reasons.join(', ');
}
