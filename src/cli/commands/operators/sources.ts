import type { Command } from 'commander';
import { checkSources, pullSources } from '../../../../pipelines/pull.ts';
import { exitCode } from '../../../errors/errors.ts';
import { PullLedger } from '../../../sources/pull-ledger.ts';
import { readSources } from '../../../sources/config/sources-file.ts';
import { addCommand, answer, existingData, table } from '../../answer.ts';
import type { CommandContext } from '../../context.ts';
import { stopSignal } from '../../stop-signal.ts';

export function addSourcesCommands(program: Command, context: CommandContext): void {
  const sources = program.command('sources').description('networks of sources.json, whose catalogs are pulled');
  addCommand(sources, 'list', 'all sources, without their secrets, and their last pulls').action(
    (options: { json?: boolean }) => {
      const data = existingData();
      const { sources: known, warnings } = readSources(data);
      for (const warning of warnings) context.console.logger.warn(warning);
      using ledger = PullLedger.existing(data);
      const newest = ledger?.newest();
      const shown = known.map(({ source, connector, every }) => {
        const pulls = newest?.get(source);
        return {
          source,
          connector: connector ?? null,
          every: every ?? null,
          last_pull: pulls?.last.status ?? null,
          last_whole_pull_at: pulls?.whole?.finished_at ?? null,
          records: pulls?.whole?.records ?? null,
          error: pulls?.last.error ?? null,
        };
      });
      answer(context, options, { sources: shown }, table(shown));
    },
  );
  addCommand(
    sources,
    'check',
    'ask each for one page, to see that address, key and declaration are right; writes nothing',
  )
    .argument('[source...]', 'those to check; all where none is named')
    .action(async (names: string[], options: { json?: boolean }) => {
      const { console } = context;
      const checked = await checkSources({ data: existingData(), console, names, stop: stopSignal(console.logger) });
      const shown = checked.map(({ source, records, total, error, first }) => ({
        source,
        offers_on_page: records ?? null,
        offers_in_all: total ?? null,
        error,
        first: first ?? null,
      }));
      answer(context, options, { sources: checked }, table(shown));
      if (checked.some(({ error }) => error !== null)) process.exitCode = exitCode.failed;
    });
  addCommand(sources, 'pull', 'fetch their offers now; exits 1 where one failed, the files of the others stay')
    .argument('[source...]', 'those to pull; all where none is named')
    .option('--scheduled', 'of all, those without an "every" of their own')
    .action(async (names: string[], options: { scheduled?: boolean; json?: boolean }) => {
      const { console } = context;
      const pulled = await pullSources({
        data: existingData(),
        console,
        names,
        scheduled: options.scheduled === true,
        stop: stopSignal(console.logger),
      });
      const shown = pulled.map(({ source, status, pages, records, file, left_out, error }) => ({
        source,
        status,
        pages,
        records,
        left_out: Object.values(left_out).reduce((sum, each) => sum + each, 0),
        file: file ?? (status === 'done' ? 'nothing new' : null),
        error,
      }));
      answer(context, options, { sources: pulled }, table(shown));
      if (pulled.some(({ status }) => status !== 'done')) process.exitCode = exitCode.failed;
    });
}
