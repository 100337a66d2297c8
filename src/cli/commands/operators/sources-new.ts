import type { Command } from 'commander';
import { trySource } from '../../../../pipelines/new-source.ts';
import type { CheckedSource } from '../../../../pipelines/check-sources.ts';
import { exitCode, StoppedError, UsageError } from '../../../kit/errors/errors.ts';
import type { DataDirectory } from '../../../kit/config/data-directory.ts';
import { addSource, type DraftSecret } from '../../../sources/config/add-source.ts';
import { addCommand, existingData, printAnswer } from '../../answer.ts';
import type { CommandContext } from '../../context.ts';
import {
  addSecret,
  draftSource,
  withValue,
  type DraftOptions,
  type ReadyDraft,
} from '../../new-source/draft-source.ts';
import { confirm, type Prompts } from '../../prompts.ts';
import { lineWidth } from '../../line-width.ts';
import { sampledText } from '../../sampled-text.ts';
import { stopSignal } from '../../stop-signal.ts';

interface NewSourceOptions extends Omit<DraftOptions, 'secret'> {
  secret?: Readonly<Record<string, DraftSecret>>;
  json?: boolean;
}

/** Adds the command that adds a source. */
export function addNewSourceCommand(sources: Command, context: CommandContext): void {
  addCommand(
    sources,
    'new',
    'Adds a source to sources.json once one page of it was read',
    'On a terminal it asks for what the options leave out. It shows three offers as they would be and what is odd about the page, and asks before it writes; the rest of the file stays as it is. A secret that is typed goes into a file of mode 0600 in `secrets/`. Exits 1 where the page cannot be read: then nothing is written, unless --force says so.',
  )
    .option('--connector <name>', 'network, `http` for another one, or `s3`')
    .option('--source <name>', 'name of the source, also of its folder in `landing/offers`')
    .option('--base-url <address>', 'address of its API (default: the network’s, where it has one)')
    .option('--secret <name=where>', 'secret by `NAME=env:VARIABLE` or `NAME=file:PATH`; may be repeated', addSecret)
    .option('--currency <code>', 'currency of amounts that come without one (default: `USD`)')
    .option('--time-zone <zone>', 'zone of times without an offset')
    .option('--with <file>', 'JSON object with further keys of the source, such as `offers` of a declared network')
    .option('--yes', 'write without asking, if the page can be read')
    .option('--force', 'write without asking, also if the page cannot be read')
    .action(async (options: NewSourceOptions) => {
      const data = existingData();
      const prompts = context.openPrompts?.();
      try {
        await newSource(data, options, context, prompts);
      } finally {
        prompts?.close();
      }
    });
}

async function newSource(
  data: DataDirectory,
  options: NewSourceOptions,
  context: CommandContext,
  prompts: Prompts | undefined,
): Promise<void> {
  const { terminal } = context;
  const stop = stopSignal(terminal.logger);
  let ready = await draftSource(data, { ...options, secret: options.secret ?? {} }, prompts);
  prompts?.show(`asking ${ready.draft.source} for its first page`);
  const tried = await trySource(ready.entry, { data, terminal, stop });
  let { checked } = tried;
  const values = await neededValues(checked, options, prompts);
  if (Object.keys(values).length > 0) {
    ready = await withValue(data, ready.draft, values, prompts);
    const sampled = tried.readAgain(ready.entry);
    checked = { ...checked, ...(sampled && { sampled }) };
  }
  if (stop.aborted) throw new StoppedError('it was asked to end: nothing was written');
  const found = foundText(checked);
  prompts?.show(`\n${found}\n`);
  const isWritten = await isWanted(checked, options, ready, prompts);
  const secretFiles = isWritten ? await addSource(data, ready.draft) : [];
  const { source } = ready.draft;
  const next = isWritten ? [`offerline sources pull ${source}`, 'offerline run refresh'] : [];
  const answer = { ...checked, is_written: isWritten, file: data.sourcesFile, secret_files: secretFiles, next };
  const outcome = isWritten
    ? [
        `${source} is written to ${data.sourcesFile}`,
        ...secretFiles.map((file) => `its secret is in ${file}, for its owner alone`),
        `next: ${next.map((words) => `\`${words}\``).join(', then ')}`,
      ]
    : [`nothing is written${checked.error === null ? '' : '; --force writes it all the same'}`];
  printAnswer(context, options, answer, [...(prompts === undefined ? [found, ''] : []), ...outcome].join('\n'));
  if (checked.error !== null && !isWritten) process.exitCode = exitCode.failed;
}

/** Asks for settings that the records of the page turned out to need. Throws `UsageError` where nobody can be asked. */
async function neededValues(
  { sampled }: CheckedSource,
  { force }: NewSourceOptions,
  prompts: Prompts | undefined,
): Promise<Record<string, string>> {
  const values: Record<string, string> = {};
  if (sampled?.needs.includes('currency') && prompts !== undefined)
    values['currency'] = await prompts.ask('Its amounts come without a currency, which is', 'USD');
  if (sampled?.needs.includes('time_zone')) {
    if (prompts !== undefined)
      values['time_zone'] = await prompts.ask('Its times have no zone; which is it, such as America/New_York');
    else if (force !== true)
      throw new UsageError('say --time-zone: times of its conversions have no zone, so that a pull would fail');
  }
  return values;
}

/** What the first page is, in words. */
function foundText({ source, error, cure, sampled, records, new_records }: CheckedSource): string {
  if (error !== null)
    return [`${source} cannot be read: ${error}`, ...(cure === undefined ? [] : [`what to do: ${cure}`])].join('\n');
  if (sampled !== undefined) return sampledText(sampled, lineWidth());
  return `${source} can be read: ${records ?? 0} on its first page, ${new_records ?? 0} of them new`;
}

async function isWanted(
  { error }: CheckedSource,
  { yes, force }: NewSourceOptions,
  { draft }: ReadyDraft,
  prompts: Prompts | undefined,
): Promise<boolean> {
  if (force === true) return true;
  if (yes === true && (error === null || prompts === undefined)) return error === null;
  if (prompts === undefined) return false;
  return error === null
    ? confirm(prompts, `Write ${draft.source} to sources.json`, true)
    : confirm(prompts, `Write ${draft.source} to sources.json all the same`, false);
}
