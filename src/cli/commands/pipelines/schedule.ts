import type { Command } from 'commander';
import { readSettings } from '../../../kit/config/settings.ts';
import { realEffects } from '../../../kit/files/effects.ts';
import { momentOfMilliseconds } from '../../../kit/time/moment.ts';
import { openSchedule } from '../../schedule/open-schedule.ts';
import { plannedPipelines } from '../../schedule/planned-pipelines.ts';
import { isRefreshDue } from '../../schedule/refresh-due.ts';
import { ScheduleMetrics } from '../../schedule/schedule-metrics.ts';
import { nextMoments } from '../../schedule/schedule.ts';
import { metricsListener } from '../../../kit/metrics/metrics-listener.ts';
import { addCommand, printAnswer, existingData, wholeNumber } from '../../answer.ts';
import { listen } from '../../listen.ts';
import type { CommandContext } from '../../context.ts';
import { leave, untilStopped } from '../../stop-signal.ts';

/** Moments of each pipeline that `--dry-run` shows. */
const shownMoments = 10;
/** Texts that it shows for a plan's `watch`. */
const watchTexts = new Map<unknown, string>([
  ['tracker', ', and as soon as the tracker hands over a log'],
  [true, ', and as soon as files land'],
]);

interface ScheduleOptions {
  metricsPort?: number;
  metricsHost?: string;
  dryRun?: boolean;
  json?: boolean;
}

export function addScheduleCommand(program: Command, context: CommandContext): void {
  addCommand(
    program,
    'schedule',
    'Runs the pipelines by their cron expressions, without the HTTP service',
    'Each run is a process of its own. One schedule works on a data directory: a second one exits 3.',
  )
    .option(
      '--metrics-port <n>',
      'answer /metrics at this port; 0 is any free one (default: metrics.port of offerline.json, else none)',
      wholeNumber(0, 65535),
    )
    .option('--metrics-host <address>', 'address for that (default: metrics.host of offerline.json, else 127.0.0.1)')
    .option('--dry-run', `show the next ${shownMoments} moments of each pipeline; run nothing`)
    .action(async (options: ScheduleOptions) => {
      if (options.dryRun === true) return showMoments(options, context);
      const data = existingData();
      const settings = readSettings(data);
      const { logger } = context.terminal;
      const metrics = new ScheduleMetrics(data, settings, logger);
      const listener = metricsListener(metrics.metrics, logger);
      const { host, port } = settings.metrics;
      const wanted = options.metricsPort ?? port;
      try {
        if (wanted !== undefined) {
          const address = await listen(listener, options.metricsHost ?? host, wanted, 'metrics.');
          logger.info({ address }, 'answering /metrics');
        }
        const schedule = await openSchedule(data, settings, context, metrics);
        await untilStopped();
        logger.info('stopping: runs under way end after their step');
        await leave(schedule.stop());
      } finally {
        await listener.close();
      }
    });
}

async function showMoments(options: { json?: boolean }, context: CommandContext): Promise<void> {
  const data = existingData();
  const { logger } = context.terminal;
  const schedule = (await plannedPipelines(data, readSettings(data), logger)).map((pipeline) => ({
    pipeline: pipeline.name,
    ...pipeline.plan,
    next: nextMoments(pipeline, realEffects.now(), shownMoments).map((time) => momentOfMilliseconds(time)),
  }));
  const texts = schedule.map(({ pipeline, cron, catch_up, overlap, next, ...plan }) => {
    const watch = ('watch' in plan && watchTexts.get(plan.watch)) || '';
    const moments = next.map((moment) => `  ${moment}`);
    return [`${pipeline}  "${cron}", UTC  (catch up: ${catch_up}, overlap: ${overlap}${watch})`, ...moments].join('\n');
  });
  printAnswer(context, options, { schedule }, texts.join('\n\n'));
  await isRefreshDue(data, logger, realEffects.now());
}
