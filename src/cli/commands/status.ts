import type { Command } from 'commander';
import { readSettings } from '../../config/settings.ts';
import { realEffects } from '../../files/effects.ts';
import { OfferlineError } from '../../errors/errors.ts';
import { ageText } from '../../time/age.ts';
import { visibleText } from '../../text/visible-text.ts';
import { addCommand, answer, existingData, table } from '../answer.ts';
import type { CommandContext } from '../context.ts';
import { describeFailure, readStatus, type Status } from '../status.ts';

export function addStatusCommand(program: Command, context: CommandContext): void {
  addCommand(
    program,
    'status',
    'one glance: snapshot, newest data, failures, what waits for an operator; exits 1 where the last run failed, or something is older than offerline.json allows',
  ).action(async (options: { json?: boolean }) => {
    const data = existingData();
    const status = await readStatus(data, readSettings(data), realEffects.now());
    answer(context, options, status, describe(status));
    const { alarms, stale } = status;
    if (alarms.length + stale.length > 0)
      throw new OfferlineError([...alarms, ...stale.map((each) => `stale: ${each}`)].join('; '));
  });
}

function describe(status: Status): string {
  const { snapshot, newest, files, rejects_of_last_day, reports, postbacks } = status;
  if (snapshot === null)
    return ['No snapshot was published yet; `offerline run refresh` makes one.', ...troubles(status)].join('\n');
  const counts = Object.entries(snapshot.row_counts)
    .map(([name, rows]) => `${name} ${rows}`)
    .join(', ');
  return [
    `snapshot ${snapshot.snapshot_id}, as of ${snapshot.as_of}, ${snapshot.age_seconds === null ? "ahead of this machine's clock" : ageText(snapshot.age_seconds)}`,
    `  ${counts}`,
    ...troubles(status),
    reports.outdated + reports.missing === 0
      ? 'every daily report is there and agrees with the events'
      : `daily reports: ${reports.outdated} outdated, ${reports.missing} missing; \`offerline backfill reports --dry-run\` lists them`,
    postbacks === null ? 'no postbacks yet' : `postbacks: ${postbacks.pending} pending, ${postbacks.dead} dead`,
    '',
    table(newest.map(withAge)),
    '',
    table(files),
    '',
    'rejected rows of the last 24 hours',
    table(rejects_of_last_day),
  ].join('\n');
}

function withAge({ data, newest, age_seconds: seconds }: Status['newest'][number]) {
  return { data, newest, age: seconds === null ? null : ageText(seconds) };
}

function troubles({ running, last_failure: failure, held, set_aside }: Status): string[] {
  return [
    running === null
      ? 'no run holds the warehouse'
      : `${running.command} runs since ${running.since} (process ${running.pid})`,
    failure === null
      ? 'no run has failed lately'
      : `${describeFailure(failure)}${failure.recovered ? ', a later one was good' : ''}: ${failure.error?.split('\n')[0]}`,
    ...held.map(
      ({ file_id, source, reason }) =>
        `an export of ${visibleText(source)} is held (${reason}); \`offerline offers accept ${file_id}\` lets it take effect`,
    ),
    ...set_aside.map(
      ({ source, files, path, reason }) =>
        `${files} newly landed export${files === 1 ? '' : 's'} of ${visibleText(source)} did not count, the last ${visibleText(path)} (${visibleText(reason)}); land what should count under a new name`,
    ),
  ];
}
