import { FollowedFile } from '../../kit/files/followed-file.ts';
import { programFile } from '../../kit/files/package-files.ts';
import type { ReportedRole } from '../../pipeline/runs/storage-role.ts';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import type { Settings } from '../../kit/config/settings.ts';
import { exitCode, UsageError } from '../../kit/errors/errors.ts';
import { realEffects } from '../../kit/files/effects.ts';
import { momentOfMilliseconds } from '../../kit/time/moment.ts';
import { hasStore, isShared } from '../../postbacks/open-store.ts';
import { leasedSchedule } from '../compose.ts';
import type { CommandContext } from '../context.ts';
import { notedRuns } from './noted-runs.ts';
import { isPull, plannedPipelines, plannedPulls, sourceOfPull } from './planned-pipelines.ts';
import { acquireSchedulerLock, realScheduleEffects, startSchedule, type Schedule } from './schedule.ts';
import type { ScheduledRun } from './schedule-lane.ts';
import type { ScheduleMetrics } from './schedule-metrics.ts';
import { scheduledProcesses } from './scheduled-process.ts';

/**
 * Starts the schedule of a data directory, each run in a process of its own, with `environment` beside ours; with
 * storage once no other machine's schedule writes. Throws `UsageError` where this machine only follows storage.
 */
export async function openSchedule(
  data: DataDirectory,
  settings: Settings,
  context: CommandContext,
  metrics: ScheduleMetrics,
  environment: NodeJS.ProcessEnv = {},
): Promise<Schedule> {
  const { storage } = settings;
  if (storage?.follow === true)
    throw new UsageError(
      'this machine follows storage and writes nothing: `offerline serve` here, or leave "follow" out of "storage" in offerline.json',
    );
  if (storage === undefined) return openOwnSchedule(data, settings, context, metrics, environment);
  const { openLeasedSchedule } = await leasedSchedule.load();
  const lock = await acquireSchedulerLock(data.storageScheduleLockFile);
  return openLeasedSchedule(
    data,
    { ...settings, storage },
    context.terminal.logger,
    lock,
    (leased: NodeJS.ProcessEnv) => openOwnSchedule(data, settings, context, metrics, { ...environment, ...leased }),
    (role: ReportedRole) => metrics.watchRole(role),
  );
}

/** Moments at which the schedule looks whether `sources.json` has changed: every ten seconds. */
const sourcesFollowed = '*/10 * * * * *';
/** Milliseconds that the hand-over to the next writer may take, and that it then has to end. */
const maxHandOver = { working: 20_000, ending: 5_000 };

async function openOwnSchedule(
  data: DataDirectory,
  settings: Settings,
  { terminal: { logger } }: CommandContext,
  metrics: ScheduleMetrics,
  environment: NodeJS.ProcessEnv,
): Promise<Schedule & { handOver(): Promise<void> }> {
  const main = programFile('src/cli/main');
  const wordsOf = (run: ScheduledRun) => [...process.execArgv, main, ...commandOf(run)];
  const processes = scheduledProcesses(process.execPath, wordsOf, { environment });
  let isStopping = false;
  const planned = await plannedPipelines(data, settings, logger);
  const schedule = await startSchedule(
    data,
    planned,
    notedRuns(
      metrics.counted((run) => processes.start(run)),
      { data, effects: realEffects, logger, isStopping: () => isStopping },
    ),
    logger,
  );
  const sources = new FollowedFile(
    data.sourcesFile,
    logger,
    () => {
      const others = planned.filter((pipeline) => !isPull(pipeline));
      schedule.replan([...others, ...plannedPulls(data, settings.schedule.pull)]);
    },
    {
      gone: 'sources.json is gone; its sources stay in the schedule, and their pulls fail until it is back',
      broken: 'sources.json cannot be used; the schedule of pulls stays as it was until it is mended',
    },
  );
  const following = realScheduleEffects.tick(sourcesFollowed, () => void sources.poll());
  return {
    caughtUp: schedule.caughtUp,
    async stop() {
      isStopping = true;
      await following.stop();
      await Promise.all([schedule.stop(), processes.stop()]);
    },
    async handOver() {
      // PostgreSQL is every writer's own memory of what was delivered.
      if (isShared(settings) || !hasStore(data, settings)) return;
      logger.info('publishing which postbacks were delivered, for the next writer');
      const last = scheduledProcesses(process.execPath, wordsOf, {
        environment,
        endingMilliseconds: maxHandOver.ending,
      });
      const overdue = setTimeout(() => void last.stop(), maxHandOver.working);
      const end = await last.start({
        pipeline: handOverPipeline,
        scheduledAt: momentOfMilliseconds(realEffects.now()),
      });
      clearTimeout(overdue);
      if (end !== exitCode.done)
        logger.warn(
          'storage does not know which postbacks were delivered since the last run; the next writer sends them again, under the same ids',
        );
    },
  };
}

const handOverPipeline = 'sync-deliveries';

/** The command that a run is. Postbacks, pulls and pictures remember by their own stores what is due. */
function commandOf({ pipeline, scheduledAt, asOf }: ScheduledRun): string[] {
  if (pipeline === 'postbacks') return ['postbacks', 'deliver'];
  if (pipeline === 'pictures') return ['pictures'];
  if (pipeline === handOverPipeline) return ['run', pipeline];
  if (pipeline === 'pull') return ['sources', 'pull', '--scheduled'];
  const source = sourceOfPull(pipeline);
  if (source !== undefined) return ['sources', 'pull', '--scheduled', source];
  return ['run', pipeline, '--scheduled-at', scheduledAt, ...(asOf === undefined ? [] : ['--as-of', asOf])];
}
