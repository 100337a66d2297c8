import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { readSettings, type Settings } from '../../kit/config/settings.ts';
import { UsageError } from '../../kit/errors/errors.ts';
import { realEffects } from '../../kit/files/effects.ts';
import type { Logger } from '../../kit/logging/log.ts';
import { dateOf, type Moment } from '../../kit/time/moment.ts';
import { eventKinds } from '../../kit/vocabulary/values.ts';
import { PictureIndex } from '../../pictures/picture-index.ts';
import { readOutcome } from '../../pipeline/runs/pipeline-outcomes.ts';
import { readRecentRuns } from '../../pipeline/runs/recent-runs.ts';
import { currentManifest } from '../../pipeline/snapshot/snapshot-store.ts';
import { isPassDue } from '../../postbacks/due-postbacks.ts';
import { hasStore } from '../../postbacks/open-store.ts';
import { pulledSources, readSources } from '../../sources/config/sources-file.ts';
import { PullLedger } from '../../sources/pull-ledger.ts';
import { trackerLogs } from '../../tracker/logs/log-names.ts';
import { watchLanding } from './landing-watch.ts';
import { isRefreshDue } from './refresh-due.ts';
import type { ScheduledPipeline } from './schedule-lane.ts';

/** The pipelines that have a plan, each with the newest of its moments that needs no run any more. */
export async function plannedPipelines(
  data: DataDirectory,
  { schedule, pictures }: Settings,
  logger: Logger,
): Promise<ScheduledPipeline[]> {
  return [
    ...(await plannedRefresh(data, schedule.refresh, logger)),
    ...plannedDelivery(data, schedule.postbacks),
    ...plannedMaintenance(data, schedule.maintenance),
    ...pullsOrNone(data, schedule.pull, logger),
    ...(pictures ? plannedMirror(data, schedule.pictures) : []),
  ];
}

/** The newest of these moments that has passed. One ahead was written by a clock that has gone back since. */
function newestPassed(...moments: (Moment | undefined)[]): number | undefined {
  const times = moments.flatMap((moment) => (moment === undefined ? [] : [dateOf(moment).getTime()]));
  const passed = times.filter((time) => time <= realEffects.now());
  return passed.length === 0 ? undefined : Math.max(...passed);
}

async function plannedRefresh(
  data: DataDirectory,
  plan: Settings['schedule']['refresh'],
  logger: Logger,
): Promise<ScheduledPipeline[]> {
  if (plan === null) return [];
  // A run by hand that published as of later covers earlier moments, too.
  const published = await currentManifest(data);
  const folders = plan.watch === true ? undefined : eventKinds.map((kind) => trackerLogs(data, kind));
  return [
    {
      name: 'refresh',
      plan,
      coveredUntil: newestPassed(readRecentRuns(data).scheduled['refresh'], published?.as_of),
      isDue: () => isRefreshDue(data, logger, realEffects.now()),
      watch: plan.watch === false ? undefined : (onNews) => watchLanding(data.landing, folders, onNews, logger),
    },
  ];
}

function plannedDelivery(data: DataDirectory, plan: Settings['schedule']['postbacks']): ScheduledPipeline[] {
  if (plan === null) return [];
  const isDue = async () => hasStore(data, readSettings(data)) && isPassDue(data);
  return [{ name: 'postbacks', plan, coveredUntil: undefined, isDue }];
}

function plannedMaintenance(data: DataDirectory, plan: Settings['schedule']['maintenance']): ScheduledPipeline[] {
  if (plan === null) return [];
  const { scheduled, runs } = readRecentRuns(data);
  // Before the first run there is nothing to maintain.
  const coveredUntil = newestPassed(scheduled['maintenance'] ?? runs.at(-1)?.started_at) ?? realEffects.now();
  return [{ name: 'maintenance', plan, coveredUntil }];
}

function plannedMirror(data: DataDirectory, plan: Settings['schedule']['pictures']): ScheduledPipeline[] {
  if (plan === null) return [];
  using index = PictureIndex.existing(data);
  const pass = index?.lastPass();
  // The index has the end of a pass that was asked to end, too; only its outcome says so.
  const isInterrupted = pass?.ended_at === null || readOutcome(data, 'pictures')?.outcome === 'stopped';
  return [{ name: 'pictures', plan, coveredUntil: isInterrupted ? undefined : pass?.started_at }];
}

/** Begins the name of the pipeline of one source that has a plan of its own. */
const pullOf = 'pull ';

/** The source that a pipeline pulls alone; undefined of other pipelines. */
export function sourceOfPull(pipeline: string): string | undefined {
  return pipeline.startsWith(pullOf) ? pipeline.slice(pullOf.length) : undefined;
}

/** Whether a pipeline pulls sources: those without a plan of their own, or one. */
export function isPull({ name }: ScheduledPipeline): boolean {
  return name === 'pull' || sourceOfPull(name) !== undefined;
}

/**
 * One pipeline for each source with a plan of its own, and one for the others. Throws `UsageError` where `sources.json`
 * cannot be used.
 */
export function plannedPulls(data: DataDirectory, plan: Settings['schedule']['pull']): ScheduledPipeline[] {
  const pulled = pulledSources(readSources(data).sources);
  if (pulled.length === 0) return [];
  // Each pull says what is damaged, and how to mend it.
  const ended = PullLedger.read(
    data,
    (ledger) => ledger.newestEnded(),
    () => undefined,
  );
  const coveredUntil = (names: readonly string[]) => {
    const begun = names.map((name) => ended?.get(name));
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

/** No pulls where `sources.json` cannot be used, since all else goes on. */
function pullsOrNone(data: DataDirectory, plan: Settings['schedule']['pull'], logger: Logger): ScheduledPipeline[] {
  try {
    return plannedPulls(data, plan);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    logger.error(`nothing is pulled until this is mended: ${error.message}`);
    return [];
  }
}
