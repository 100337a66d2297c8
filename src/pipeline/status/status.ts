import type { DataDirectory } from '../../kit/config/data-directory.ts';
import type { Settings } from '../../kit/config/settings.ts';
import { packageVersion } from '../../kit/files/package-files.ts';
import { configurationAdvice } from '../runs/configuration-note.ts';
import { describeFutureEffective } from '../runs/future-effective.ts';
import { allowedSilence } from '../../postbacks/silent-sites.ts';
import type { DiskState } from '../doctor/examine-machine.ts';
import { scheduleTrouble, storageClockTrouble } from '../doctor/examine-schedule.ts';
import { clockOffsetAdvice } from '../runs/storage-clock.ts';
import { describeRefusedRuns, refusalTroubles } from '../runs/refused-runs.ts';
import { futureTimestampsAdvice } from '../../kit/time/ahead-of-clock.ts';
import { describeFailure } from './last-failure.ts';
import { describeFailedDelivery } from './pipelines-status.ts';
import { readStatusReport, type StatusReport } from './status-report.ts';
import { adviseActions, type AdvisedAction } from './actions.ts';

export interface Status extends StatusReport {
  /** Version of offerline that this process is. */
  version: string;
  /** Data that is older than configured. */
  stale: string[];
  /** Other reasons for the command to fail, a sentence each. */
  alarms: string[];
  /** List of all that needs attention, the most urgent first, with the command that helps. */
  to_do: AdvisedAction[];
}

/** Reads the status and compares it with the limits of `offerline.json`. `now` in milliseconds since the epoch. */
export async function readStatus(
  data: DataDirectory,
  settings: Pick<Settings, 'snapshot_max_age_minutes' | 'freshness' | 'pictures' | 'postbacks' | 'storage'>,
  now: number,
  disk?: DiskState,
): Promise<Status> {
  const report = await readStatusReport(data, settings, now, disk);
  const stale = staleness(report, settings);
  const allowed = allowedSilence(settings);
  return {
    version: packageVersion(),
    ...report,
    stale,
    alarms: alarms(report, allowed),
    to_do: adviseActions(report, stale, allowed, settings.storage?.follow === true),
  };
}

/** `allowed`: minutes for which a site may take no postback. */
function alarms(report: StatusReport, allowed: number): string[] {
  const { unreadable, snapshot, ahead, last_failure: failure, schedule } = report;
  const { landing, sources, pictures, silent_sites, pipelines, stops_runs } = report;
  return [
    ...unreadable,
    ...stops_runs,
    ...(snapshot?.age_seconds === null
      ? [
          `the snapshot is as of ${snapshot.as_of}, which is ahead of this machine's clock, and no refresh is let in before: ${futureTimestampsAdvice}`,
        ]
      : []),
    ...(ahead === null ? [] : [`${describeFutureEffective(ahead)}; ${futureTimestampsAdvice}`]),
    ...(failure === null || failure.recovered
      ? []
      : [`${describeFailure(failure)}, and no run has been good since; \`offerline runs --failed\` shows more`]),
    ...refusalTroubles([report.refused_runs, report.refused_maintenance]).map(describeRefusedRuns),
    ...[storageClockTrouble(schedule)].flatMap((what) => (what === undefined ? [] : [`${what}: ${clockOffsetAdvice}`])),
    ...[scheduleTrouble(schedule)].filter((what) => what !== undefined),
    ...(report.configuration === null ? [] : [`${report.configuration}: ${configurationAdvice}`]),
    ...(landing.trouble === null ? [] : [landing.trouble]),
    ...[describeFailedDelivery(pipelines, schedule.role)].filter((what) => what !== undefined),
    ...sources
      .filter(({ last_pull, ended_by_force }) => last_pull === 'failed' || ended_by_force)
      .map(({ source, error }) => `source ${source} was not pulled: ${error}`),
    ...silent_sites
      .filter(({ silent_seconds }) => silent_seconds > allowed * 60)
      .map(
        ({ site_key, silent_seconds }) =>
          `site ${site_key} has taken no postback for ${Math.floor(silent_seconds / 60)} minutes, freshness.postbacks_minutes allows ${allowed}`,
      ),
    ...(pictures?.ended_by_force === true ? [`the last pass over pictures ${pictures.error}`] : []),
  ];
}

/** Returns what exceeds the limits of `offerline.json`, in words. */
function staleness(
  { snapshot, newest, sources }: StatusReport,
  settings: Pick<Settings, 'snapshot_max_age_minutes' | 'freshness'>,
): string[] {
  const { snapshot_max_age_minutes, freshness } = settings;
  const stale: string[] = [];
  const check = (what: string, ageSeconds: number | null, minutes: number | undefined, key: string) => {
    if (minutes === undefined || (ageSeconds !== null && ageSeconds <= minutes * 60)) return;
    stale.push(
      `${what} is ${ageSeconds === null ? 'missing' : `${Math.floor(ageSeconds / 60)} minutes old`}, ${key} allows ${minutes}`,
    );
  };
  // An alarm reports a snapshot ahead of the clock.
  if (snapshot?.age_seconds !== null)
    check('the snapshot', snapshot?.age_seconds ?? null, snapshot_max_age_minutes, 'snapshot_max_age_minutes');
  const limits: [RegExp, number | undefined, string][] = [
    [/^clicks$/, freshness.clicks_minutes, 'freshness.clicks_minutes'],
    [/^conversions$/, freshness.conversions_minutes, 'freshness.conversions_minutes'],
    [/^offers of /, freshness.offers_minutes, 'freshness.offers_minutes'],
  ];
  for (const [data, minutes, key] of limits) {
    for (const each of newest.filter((candidate) => data.test(candidate.data)))
      check(`the newest of ${each.data}`, each.age_seconds, minutes, key);
  }
  for (const { source, age_seconds } of sources)
    check(`the last whole pull of ${source}`, age_seconds, freshness.pulls_minutes, 'freshness.pulls_minutes');
  return stale;
}
