import type { Command } from 'commander';
import { fileURLToPath } from 'node:url';
import { duePostbacks } from '../../../postbacks/due-postbacks.ts';
import { hasStore } from '../../../postbacks/open-store.ts';
import { isRefreshDue } from '../../schedule/refresh-due.ts';
import { watchLanding } from '../../schedule/landing-watch.ts';
import { notedRuns } from '../../schedule/noted-runs.ts';
import { acquireSchedulerLock, nextMoments, startSchedule, type Schedule } from '../../schedule/schedule.ts';
import type { ScheduledPipeline, ScheduledRun } from '../../schedule/schedule-lane.ts';
import { scheduledProcesses } from '../../schedule/scheduled-process.ts';
import type { DataDirectory } from '../../../kit/config/data-directory.ts';
import { readSettings, type Settings } from '../../../kit/config/settings.ts';
import { UsageError } from '../../../kit/errors/errors.ts';
import type { Logger } from '../../../kit/logging/log.ts';
import { currentManifest } from '../../../pipeline/snapshot/snapshot-store.ts';
import { dateOf, momentOfMilliseconds, type Moment } from '../../../kit/time/moment.ts';
import { realEffects } from '../../../kit/files/effects.ts';
import { pulledSources, readSources, type SourceEntry } from '../../../sources/config/sources-file.ts';
import { PictureIndex } from '../../../pictures/picture-index.ts';
import { trackerLogs } from '../../../tracker/logs/log-names.ts';
import { eventKinds } from '../../../kit/vocabulary/values.ts';
import { PullLedger } from '../../../sources/pull-ledger.ts';
import { readRecentRuns } from '../../../pipeline/runs/recent-runs.ts';
import { addCommand, answer, existingData } from '../../answer.ts';
import { leasedSchedule } from '../../compose.ts';
import type { CommandContext } from '../../context.ts';
import { leave, untilStopped } from '../../stop-signal.ts';

/** How many of each pipeline's next moments `--dry-run` tells. */
const shownRuns = 10;
/** What else it tells of a plan, by its `watch`. */
const watchTexts = new Map<unknown, string>([
  ['tracker', ', and as soon as the tracker hands over a log'],
  [true, ', and as soon as files land'],
]);

export function addScheduleCommand(program: Command, context: CommandContext): void {
  addCommand(
    program,
    'schedule',
    'Runs the pipelines by their cron expressions, without the HTTP service',
    'Each run is a process of its own. One schedule works on a data directory: a second one exits 3.',
  )
    .option('--dry-run', `show the next ${shownRuns} moments of each pipeline; run nothing`)
    .action(async (options: { dryRun?: boolean; json?: boolean }) => {
      const data = existingData();
      const settings = readSettings(data);
      if (options.dryRun === true) {
        const next = (await pipelinesOf(data, settings, context)).map((pipeline) => ({
          pipeline: pipeline.name,
          ...pipeline.plan,
          next: nextMoments(pipeline, realEffects.now(), shownRuns).map((time) => momentOfMilliseconds(time)),
        }));
        answer(
          context,
          options,
          { schedule: next },
          next
            .map(({ pipeline, cron, catch_up, overlap, next: moments, ...plan }) =>
              [
                `${pipeline}  "${cron}", UTC  (catch up: ${catch_up}, overlap: ${overlap}${('watch' in plan && watchTexts.get(plan.watch)) || ''})`,
                ...moments.map((moment) => `  ${moment}`),
              ].join('\n'),
            )
            .join('\n\n'),
        );
        await isRefreshDue(data, context.terminal.logger, realEffects.now());
        return;
      }
      const schedule = await openSchedule(data, settings, context);
      await untilStopped();
      context.terminal.logger.info('stopping: runs under way end after their step');
      await leave(schedule.stop());
    });
}

/**
 * Starts the schedule of a data directory, each run in a process of its own, with `environment` beside ours; with
 * storage once no other machine's schedule writes. Throws `UsageError` where this machine only follows storage.
 */
export async function openSchedule(
  data: DataDirectory,
  settings: Settings,
  context: CommandContext,
  environment: NodeJS.ProcessEnv = {},
): Promise<Schedule> {
  const { storage } = settings;
  if (storage?.follow === true)
    throw new UsageError(
      'this machine follows storage and writes nothing: `offerline serve` here, or leave "follow" out of "storage" in offerline.json',
    );
  if (storage === undefined) return openOwnSchedule(data, settings, context, environment);
  const { openLeasedSchedule } = await leasedSchedule.load();
  const lock = await acquireSchedulerLock(data.storageScheduleLockFile);
  return openLeasedSchedule(
    data,
    { ...settings, storage },
    context.terminal.logger,
    lock,
    (leased: NodeJS.ProcessEnv) => openOwnSchedule(data, settings, context, { ...environment, ...leased }),
  );
}

async function openOwnSchedule(
  data: DataDirectory,
  settings: Settings,
  context: CommandContext,
  environment: NodeJS.ProcessEnv,
): Promise<Schedule> {
  const main = fileURLToPath(new URL('../../main.ts', import.meta.url));
  const processes = scheduledProcesses(process.execPath, (run) => [...process.execArgv, main, ...wordsOf(run)], {
    environment,
  });
  const { logger } = context.terminal;
  let isStopping = false;
  const schedule = await startSchedule(
    data,
    await pipelinesOf(data, settings, context),
    notedRuns((run) => processes.start(run), { data, effects: realEffects, logger, isStopping: () => isStopping }),
    logger,
  );
  return {
    caughtUp: schedule.caughtUp,
    async stop() {
      isStopping = true;
      await Promise.all([schedule.stop(), processes.stop()]);
    },
  };
}

/** The pipeline of one source that has a plan of its own. */
const pullOf = 'pull ';

/** Postbacks, pulls and pictures remember by their own stores what is due. */
function wordsOf({ pipeline, scheduledAt, asOf }: ScheduledRun): string[] {
  if (pipeline === 'postbacks') return ['postbacks', 'deliver'];
  if (pipeline === 'pictures') return ['pictures'];
  if (pipeline === 'pull') return ['sources', 'pull', '--scheduled'];
  if (pipeline.startsWith(pullOf)) return ['sources', 'pull', pipeline.slice(pullOf.length)];
  return ['run', pipeline, '--scheduled-at', scheduledAt, ...(asOf === undefined ? [] : ['--as-of', asOf])];
}

/** The pipelines with a plan, and which of their moments have had a run. */
async function pipelinesOf(
  data: DataDirectory,
  { schedule, pictures }: Settings,
  { terminal }: CommandContext,
): Promise<ScheduledPipeline[]> {
  const now = realEffects.now();
  const { scheduled, runs } = readRecentRuns(data);
  const published = await currentManifest(data);
  // What lies ahead was written by a clock that has gone back since, or asked for: it has covered nothing yet.
  const newest = (...moments: (Moment | undefined)[]) => {
    const passed = moments
      .filter((moment) => moment !== undefined)
      .map((moment) => dateOf(moment).getTime())
      .filter((time) => time <= now);
    return passed.length === 0 ? undefined : Math.max(...passed);
  };
  // What a run by hand has published as of later needs no refresh any more.
  const covered = {
    refresh: newest(scheduled['refresh'], published?.as_of),
    postbacks: undefined,
    // Nothing to maintain before there was anything.
    maintenance: newest(scheduled['maintenance'] ?? runs.at(-1)?.started_at) ?? now,
  };
  const isDue: Partial<Record<'refresh' | 'postbacks' | 'maintenance', NonNullable<ScheduledPipeline['isDue']>>> = {
    refresh: () => isRefreshDue(data, terminal.logger, realEffects.now()),
    postbacks: async () =>
      hasStore(data, readSettings(data)) && (await duePostbacks(data)).some(({ waits_for }) => waits_for === ''),
  };
  const trackerFolders = eventKinds.map((kind) => trackerLogs(data, kind));
  const planned = (['refresh', 'postbacks', 'maintenance'] as const).flatMap((name): ScheduledPipeline[] => {
    const plan = schedule[name];
    if (plan === null) return [];
    const watch =
      'watch' in plan && plan.watch !== false
        ? (onNews: () => void) =>
            watchLanding(data.landing, plan.watch === true ? undefined : trackerFolders, onNews, terminal.logger)
        : undefined;
    return [{ name, plan, coveredUntil: covered[name], isDue: isDue[name], watch }];
  });
  return [
    ...planned,
    ...pullsOf(data, schedule.pull, terminal.logger),
    ...(pictures ? mirrorOf(data, schedule.pictures) : []),
  ];
}

/** The pipeline of pictures, unless its plan is never. */
function mirrorOf(data: DataDirectory, plan: Settings['schedule']['pictures']): ScheduledPipeline[] {
  using index = PictureIndex.existing(data);
  return plan === null ? [] : [{ name: 'pictures', plan, coveredUntil: index?.lastPass()?.started_at }];
}

/** Where `sources.json` cannot be used nothing is pulled; all else goes on. */
function pulledOrNone(data: DataDirectory, logger: Logger): SourceEntry[] {
  try {
    return pulledSources(readSources(data).sources);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    logger.error(`nothing is pulled until this is mended and the schedule is started again: ${error.message}`);
    return [];
  }
}

/** One pipeline for each source with a plan of its own, and one for the others. */
function pullsOf(data: DataDirectory, plan: Settings['schedule']['pull'], logger: Logger): ScheduledPipeline[] {
  const pulled = pulledOrNone(data, logger);
  if (pulled.length === 0) return [];
  using ledger = PullLedger.existing(data);
  const newest = ledger?.newest();
  const coveredUntil = (names: readonly string[]) => {
    const begun = names.map((name) => newest?.get(name)?.last.started_at);
    return begun.includes(undefined)
      ? undefined
      : Math.min(...begun.map((moment) => dateOf(moment as Moment).getTime()));
  };
  const others = pulled.filter(({ every }) => every === undefined).map(({ source }) => source);
  return [
    ...(plan === null || others.length === 0 ? [] : [{ name: 'pull', plan, coveredUntil: coveredUntil(others) }]),
    ...pulled.flatMap(({ source, every }): ScheduledPipeline[] =>
      every === undefined
        ? []
        : [
            {
              name: `${pullOf}${source}`,
              key: `sources.json: "every" of ${source}`,
              plan: { cron: every, catch_up: 'last', overlap: 'skip' },
              coveredUntil: coveredUntil([source]),
            },
          ],
    ),
  ];
}
