import type { Command } from 'commander';
import { readSettings } from '../../../kit/config/settings.ts';
import { realEffects } from '../../../kit/files/effects.ts';
import { OfferlineError } from '../../../kit/errors/errors.ts';
import { ageText } from '../../../kit/time/age.ts';
import { headline } from '../../../kit/text/headline.ts';
import { typedOfferline, withTypedCommands } from '../../../kit/text/typed-commands.ts';
import { visibleText } from '../../../kit/text/visible-text.ts';
import { addCommand, printAnswer, existingData, textTable } from '../../answer.ts';
import { describeRole, pipelineRow } from '../../../pipeline/status/describe-machine.ts';
import { describeFailure } from '../../../pipeline/status/last-failure.ts';
import { readStatus, type Status } from '../../../pipeline/status/status.ts';
import type { CommandContext } from '../../context.ts';
import { cutLines, lineWidth } from '../../line-width.ts';

export function addStatusCommand(program: Command, context: CommandContext): void {
  addCommand(
    program,
    'status',
    'Shows snapshot, newest data, failures, and what needs attention with the command that helps',
    [
      'Also the writer or standby of storage, files, rejected rows, postbacks and mirrored pictures.',
      'Exits 1 where something is older than `freshness` allows or dated after the clock;',
      'where a folder cannot be written or the disk is full, so that the next run fails;',
      'where a run failed, was refused or was killed, or is not in object storage, and none has been good since;',
      'where the schedule, or the service that follows, cannot use object storage, or the clock is a minute off its own;',
      'where sites, sources, rates or mappings differ from those of the machine that published last;',
      'where the last pull of a source failed or was killed, or the last pass over pictures was killed or over postbacks failed;',
      'where a site takes no postbacks; where the landing folder is gone or emptied;',
      'and where a snapshot, `sites.json` or `sources.json` cannot be read, or one of these files was used and is gone. `to_do` in `--json` marks these as `alarm`.',
    ].join(' '),
  )
    .option('--verbose', 'whole texts also on a terminal, and counts of rows, files and rejects')
    .action(async (options: { json?: boolean; verbose?: boolean }) => {
      const data = existingData();
      const status = await readStatus(data, readSettings(data), realEffects.now());
      const width = process.stdout.isTTY && options.verbose !== true ? lineWidth() : undefined;
      printAnswer(
        context,
        options,
        status,
        fitted(withTypedCommands(describe(status, options.verbose === true)), width),
      );
      const { alarms, stale } = status;
      if (alarms.length + stale.length > 0)
        throw new OfferlineError([...alarms, ...stale.map((each) => `stale: ${each}`)].join('; '));
    });
}

const commandMark = '    do: ';

/** Cuts lines to a width, but for commands, which are to be copied. Without a width all stays whole. */
function fitted(text: string, width: number | undefined): string {
  if (width === undefined) return text;
  const cut = cutLines(text, width, (line) => line.startsWith(commandMark));
  return cut === text ? text : `${cut}\n\nLines are cut: --verbose shows them whole, and counts.`;
}

function describe(status: Status, verbose: boolean): string {
  const { snapshot, damage, newest, files, rejects_of_last_day, reports, postbacks } = status;
  if (snapshot === null) {
    const what = damage.length === 0 ? 'No snapshot was published yet.' : 'No published snapshot can be read.';
    return [what, ...runs(status), ...machine(status), ...pulls(status), ...toDo(status)].join('\n');
  }
  const counts = Object.entries(snapshot.row_counts)
    .map(([name, rows]) => `${name} ${rows}`)
    .join(', ');
  return [
    `snapshot ${snapshot.snapshot_id}, as of ${snapshot.as_of}, ${snapshot.age_seconds === null ? "ahead of this machine's clock" : ageText(snapshot.age_seconds)}`,
    ...(verbose ? [`  ${counts}`] : []),
    ...runs(status),
    ...machine(status),
    reports.outdated + reports.missing === 0
      ? 'every daily report is there and agrees with the events'
      : `daily reports: ${reports.outdated} outdated, ${reports.missing} missing`,
    postbacks === null ? 'no postbacks known' : `postbacks: ${postbacks.pending} pending, ${postbacks.dead} dead`,
    ...pulls(status),
    ...mirror(status),
    ...toDo(status),
    '',
    textTable(newest.map(withAge)),
    ...(verbose
      ? ['', textTable(files), '', 'rejected rows of the last 24 hours', textTable(rejects_of_last_day)]
      : []),
  ].join('\n');
}

function withAge({ data, newest, age_seconds: seconds }: Status['newest'][number]) {
  return { data, newest, age: seconds === null ? null : ageText(seconds) };
}

function runs({ running, stops_runs, last_failure: failure }: Status): string[] {
  const none = stops_runs.length === 0 ? 'no run has failed lately' : 'no run can be recorded, also not as failed';
  return [
    running === null
      ? 'no run holds the warehouse'
      : `${running.command} runs since ${running.since} (process ${running.pid})`,
    failure === null
      ? none
      : `${describeFailure(failure)}${failure.recovered ? ', a later one was good' : ''}: ${headline(failure.error ?? '')}`,
  ];
}

function machine({ schedule, pipelines }: Status): string[] {
  const table = pipelines.length === 0 ? [] : ['', textTable(pipelines.map(pipelineRow)), ''];
  return [describeRole(schedule), ...table];
}

function pulls({ sources }: Status): string[] {
  return sources.map(
    ({ source, last_pull, age_seconds }) =>
      `source ${visibleText(source)}: ${age_seconds === null ? 'never pulled whole' : `pulled whole ${ageText(age_seconds)}`}${last_pull === 'failed' ? ', the last pull failed' : ''}`,
  );
}

function mirror({ pictures }: Status): string[] {
  if (pictures === null) return [];
  const { mirrored, failing, age_seconds: age } = pictures;
  return [
    `pictures: ${mirrored} mirrored, ${failing} could not be had, ${age === null ? 'no pass yet' : `last asked for ${ageText(age)}`}`,
  ];
}

function toDo({ to_do }: Status): string[] {
  return [
    '',
    to_do.length === 0 ? 'nothing needs attention' : 'needs attention',
    ...to_do.flatMap(({ what, command }) => [
      `  ${visibleText(what.replaceAll(/\n\s*/g, ' '))}`,
      commandMark + visibleText(command.replace(/^offerline\b/, typedOfferline())),
    ]),
  ];
}
