import type { Command } from 'commander';
import { maintenance } from '../../../../pipelines/maintenance.ts';
import { planRefresh, type RefreshPlan } from '../../../../pipelines/plans/plan-refresh.ts';
import { refresh, stages, type StageName } from '../../../../pipelines/refresh.ts';
import type { RunRequest } from '../../../../pipelines/run-pipeline.ts';
import type { IngestSummary } from '../../../pipeline/ingest/ingest-stage.ts';
import { counted } from '../../../kit/text/counted.ts';
import { momentOption } from '../../../kit/time/moment.ts';
import { addCommand, printAnswer, existingData, textTable } from '../../answer.ts';
import type { CommandContext } from '../../context.ts';
import { stopSignal } from '../../stop-signal.ts';

interface RunOptions {
  asOf?: string;
  allowOlder?: boolean;
  allowFuture?: boolean;
  scheduledAt?: string;
  json?: boolean;
}

const stageDescriptions: Record<StageName, string> = {
  ingest: 'Reads landing files into the warehouse: catalog, events, ledger, rejects, roll-up',
  models: 'Computes figures and marts as of the run',
  publish: 'Builds a snapshot, audits it and switches to it',
  'sync-deliveries':
    'Hands new postbacks to delivery and reads back which were delivered; with `storage` the next writer sends none of those again',
};

export function addRunCommands(program: Command, context: CommandContext): void {
  const run = program.command('run').description('Runs the pipeline, or one stage of it.');
  withSchedule(
    addCommand(
      run,
      'refresh',
      'Ingests, computes, audits, publishes and delivers due postbacks',
      'Twice with the same as-of and nothing new it publishes nothing. Due postbacks are delivered also when an audit stops the publish.',
    ),
  )
    .option('--dry-run', 'show which files would be read and what is due; change nothing')
    .action(async (options: RunOptions & { dryRun?: boolean }) => {
      if (options.dryRun) {
        const plan = await planRefresh(requestOf(options, context));
        return printAnswer(context, options, { dry_run: true, ...plan }, describePlan(plan));
      }
      const result = await refresh(requestOf(options, context));
      const { ingested, computed, delivery, alarms } = result;
      printAnswer(
        context,
        options,
        result,
        [
          `run ${result.runId} as of ${result.asOf}`,
          `  ingested   ${counted(ingested.files, 'file')}, ${counted(ingested.rows, 'row')}: ${ingested.accepted} accepted, ${counted(ingested.duplicates, 'duplicate')}, ${ingested.rejected} rejected; ${counted(ingested.quarantined, 'file')} quarantined`,
          ...describeReadAgain(ingested),
          `  figures    ${computed.offers} offers with figures, ${computed.days} days of marts written${computed.reportsOutdated === 0 ? '' : `; ${computed.reportsOutdated} outdated reports are left for the next runs`}`,
          result.snapshotId === null
            ? '  published  nothing: no changes since the current snapshot'
            : `  published  ${result.snapshotId}, ${result.audits} audits passed`,
          `  postbacks  ${ingested.postbacks} new${delivery === null ? '' : `; ${delivery.delivered} delivered, ${delivery.failed} failed, ${delivery.dead} dead, ${delivery.remaining} remain`}`,
          ...alarms.map((alarm) => `  ${alarm}`),
        ].join('\n'),
      );
    });
  withSchedule(
    addCommand(
      run,
      'maintenance',
      'Removes old snapshots, compacts closed days and deletes what `retention` no longer keeps',
      'Snapshots are kept as `snapshots_kept` and `snapshots_kept_hours` say. Each closed day of a log becomes one sorted file. It changes no figure and publishes nothing.',
    ),
  ).action(async (options: RunOptions) => {
    const result = await maintenance(requestOf(options, context));
    const { retired, compacted, retained } = result;
    printAnswer(
      context,
      options,
      result,
      [
        `run ${result.runId} as of ${result.asOf}`,
        `  compacted  ${compacted.days} days of ${compacted.files} files, ${compacted.rows} rows: ${compacted.bytesBefore} bytes became ${compacted.bytesAfter}; ${compacted.left} days are left for the next run`,
        `  removed    ${retired.length} snapshots`,
        `  deleted    ${retained.runs} runs, ${retained.attempts} attempts at postbacks`,
      ].join('\n'),
    );
  });
  for (const [name, stage] of Object.entries(stages)) {
    withOptions(addCommand(run, name, stageDescriptions[name as StageName])).action(async (options: RunOptions) => {
      const result = await stage(requestOf(options, context));
      printAnswer(context, options, result, `run ${result.runId} as of ${result.asOf}: ${name} done`);
    });
  }
}

function describeReadAgain({ readAgain, recovered, withdrawn }: IngestSummary): string[] {
  if (readAgain === 0) return [];
  const count = (rows: number, how: string) =>
    rows === 0 ? [] : [`${counted(rows, 'row')} ${rows === 1 ? 'counts' : 'count'} ${how}`];
  const changes = [...count(recovered, 'from now on'), ...count(withdrawn, 'no more')];
  return [
    `  read again ${counted(readAgain, 'file')}, since what decides how it is read has changed: ${changes.join(', ') || 'as many rows count as before'}`,
  ];
}

function describePlan({ as_of, files, bytes, left_out, ignored, reports_due, postbacks_due }: RefreshPlan): string {
  const due = postbacks_due.reduce((sum, each) => sum + each.due, 0);
  const shown = files.map(({ path, why, bytes: size }) => ({ file: path, why, bytes: size }));
  return [
    `a refresh as of ${as_of} would read ${counted(files.length, 'file')}, ${counted(bytes, 'byte')}; ${left_out.length === 0 ? '' : `${left_out.length} left out, `}${ignored.length} ignored`,
    `${counted(reports_due, 'daily report')} missing or outdated, ${counted(due, 'postback')} due`,
    ...(files.length === 0 ? [] : ['', textTable(shown)]),
    ...(left_out.length === 0 ? [] : ['', textTable(left_out.map(({ path, why }) => ({ 'left out': path, why })))]),
  ].join('\n');
}

function withOptions(command: Command): Command {
  return command
    .option('--as-of <time>', 'moment that the figures are of, such as 2026-11-18T10:00:00Z (default: now)')
    .option('--allow-older', 'allow an --as-of older than the published snapshot')
    .option('--allow-future', 'allow an --as-of more than five minutes ahead of the clock');
}

/**
 * Options of pipelines that the schedule runs: it passes the moment on, and finds in the run ledger which had a run.
 */
function withSchedule(command: Command): Command {
  return withOptions(command).option(
    '--scheduled-at <time>',
    'moment of the schedule that this run is for; the schedule passes it',
  );
}

function requestOf(options: RunOptions, { terminal }: CommandContext): RunRequest {
  return {
    data: existingData(),
    terminal,
    asOf: options.asOf === undefined ? undefined : momentOption(options.asOf),
    allowOlder: options.allowOlder,
    allowFuture: options.allowFuture,
    scheduledAt: options.scheduledAt === undefined ? undefined : momentOption(options.scheduledAt, '--scheduled-at'),
    stop: stopSignal(terminal.logger),
  };
}
