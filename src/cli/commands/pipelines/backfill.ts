import type { Command } from 'commander';
import { backfillReports, planBackfill } from '../../../../pipelines/backfill.ts';
import type { ReportChange } from '../../../pipeline/models/report-backfill.ts';
import type { ReportDay } from '../../../pipeline/models/report-days.ts';
import { UsageError } from '../../../kit/errors/errors.ts';
import { dayOption } from '../../../kit/time/moment.ts';
import { addCommand, printAnswer, existingData, textTable } from '../../answer.ts';
import type { CommandContext } from '../../context.ts';
import { stopSignal } from '../../stop-signal.ts';

interface BackfillOptions {
  from?: string;
  to?: string;
  all?: boolean;
  dryRun?: boolean;
  json?: boolean;
}

export function addBackfillCommands(program: Command, context: CommandContext): void {
  const backfill = program.command('backfill').description('Computes again what is missing or outdated.');
  addCommand(
    backfill,
    'reports',
    'Computes `report_daily` of days that are over: those missing, or outdated by late data',
    'It goes on where it was interrupted, lets other runs go between, publishes all at once and prints what changed. It sends no postbacks.',
  )
    .option('--from <day>', 'first day, such as 2026-11-01 (default: the first with traffic)')
    .option('--to <day>', 'last day (default: the last that is over)')
    .option('--all', 'also reports that agree with the events')
    .option('--dry-run', 'show which days, and why; change nothing')
    .action(async (options: BackfillOptions) => {
      const from = options.from === undefined ? undefined : dayOption(options.from, '--from');
      const to = options.to === undefined ? undefined : dayOption(options.to, '--to');
      if (from !== undefined && to !== undefined && from > to)
        throw new UsageError(`--from ${from} is later than --to ${to}`);
      const request = {
        data: existingData(),
        terminal: context.terminal,
        scope: { from, to, all: options.all === true },
        stop: stopSignal(context.terminal.logger),
      };
      if (options.dryRun === true) {
        const days = await planBackfill(request);
        printAnswer(
          context,
          options,
          { days },
          days.length === 0
            ? 'every report of these days is there and agrees with the events'
            : textTable(days.map(shownDay)),
        );
        return;
      }
      const summary = await backfillReports(request);
      printAnswer(context, options, summary, describe(summary.reports, summary.snapshotId));
    });
}

function shownDay({ day, state, causes, staged }: ReportDay): Record<string, string> {
  return {
    day,
    report: state,
    why: causes === '' ? '-' : causes,
    computed: staged ? 'by a backfill before' : 'not yet',
  };
}

function describe(reports: ReportChange[], snapshotId: string | null): string {
  if (reports.length === 0) return 'nothing to do: every report of these days is there and agrees with the events';
  const moved = ({ before, after }: { before: number | string; after: number | string }) =>
    before === after ? String(after) : `${before} → ${after}`;
  return [
    `${reports.length} reports computed, ${snapshotId === null ? 'published with an earlier snapshot' : `published as ${snapshotId}`}`,
    '',
    textTable(
      reports.map(({ day, changed, added, removed, clicks, conversions, earnings }) => ({
        day,
        'offers changed': changed,
        added,
        removed,
        clicks: moved(clicks),
        conversions: moved(conversions),
        'earnings USD': moved(earnings),
      })),
    ),
    '',
    'clicks, conversions and earnings are sums over the two days that each report covers',
  ].join('\n');
}
