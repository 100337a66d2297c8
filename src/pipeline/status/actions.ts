import { counted } from '../../kit/text/counted.ts';
import { headline } from '../../kit/text/headline.ts';
import { shellWord } from '../../kit/text/shell-word.ts';
import { futureTimestampsAdvice } from '../../kit/time/ahead-of-clock.ts';
import { conflictCure } from '../inspect/conflict-cure.ts';
import { fileCure } from '../inspect/file-cure.ts';
import { rejectCure } from '../inspect/reject-cure.ts';
import { configurationAdvice } from '../runs/configuration-note.ts';
import { describeFutureEffective } from '../runs/future-effective.ts';
import { describeSilence } from '../../postbacks/silent-sites.ts';
import { scheduleAdvice, scheduleTrouble, storageClockTrouble } from '../doctor/examine-schedule.ts';
import { clockOffsetAdvice } from '../runs/storage-clock.ts';
import { describeRefusedRuns, refusalTroubles, refusedPipeline } from '../runs/refused-runs.ts';
import { ageText } from '../../kit/time/age.ts';
import { describeFailure } from './last-failure.ts';
import { describeFailedDelivery } from './pipelines-status.ts';
import type { StatusReport } from './status-report.ts';

/** An action that the operator should take. */
export interface AdvisedAction {
  /** The reason, as a sentence. */
  what: string;
  /** The command that helps, as typed. */
  command: string;
  /** `offerline status` fails because of it. */
  alarm?: true;
}

const refresh = 'offerline run refresh';
const serve = 'offerline serve';
const doctor = 'offerline doctor';
const doctorRepair = 'offerline doctor --repair';

/**
 * Returns an action for everything that needs attention, the most urgent first. `allowed`: minutes for which a site may
 * accept no postback. `follows`: this machine follows storage.
 */
export function adviseActions(
  report: StatusReport,
  stale: readonly string[],
  allowed: number,
  follows = false,
): AdvisedAction[] {
  const actions = [
    ...damageActions(report),
    ...clockActions(report),
    ...runActions(report, follows),
    ...scheduleActions(report),
    ...configurationActions(report),
    ...landingActions(report),
    ...fileActions(report),
    ...sourceActions(report),
    ...pictureActions(report),
    ...postbackActions(report, allowed),
    ...stale.map((what) => ({
      what: `${what}: see that files still land and the schedule runs`,
      command: refresh,
      ...alarm,
    })),
    // A first load of old logs leaves some missing, and nothing waits for them.
    ...reportActions(report),
  ];
  return follows ? actions.flatMap(onFollower) : actions;
}

/** A machine that follows storage refuses runs and repairs; they are for the one that writes, whose status has them. */
function onFollower(action: AdvisedAction): AdvisedAction[] {
  const [, command] = /^offerline (run|backfill|offers|rebuild|doctor .*--repair)/.exec(action.command) ?? [];
  if (command === undefined) return [action];
  const isOnlyAdvice = action.alarm !== true && /^(run|backfill|offers)$/.test(command);
  return isOnlyAdvice ? [] : [{ ...action, command: doctor }];
}

const alarm = { alarm: true } as const;
const alarmIf = (is: boolean) => (is ? alarm : {});

function damageActions({ damage, machine, stops_runs, unreadable }: StatusReport): AdvisedAction[] {
  const isAlarm = (what: string) => alarmIf(unreadable.includes(what) || stops_runs.includes(what));
  return [
    ...damage.map((what) => ({ what, command: repairIn(what) ?? doctorRepair, ...isAlarm(what) })),
    ...machine.map((what) => ({ what, command: doctor, ...isAlarm(what) })),
  ];
}

/** Returns the repair that a message names; a refresh would fail the same way. */
function repairIn(message: string | null): string | undefined {
  return /`(offerline (?:doctor|rebuild)[^`]*)`/.exec(message ?? '')?.[1];
}

function clockActions({ snapshot, ahead }: StatusReport): AdvisedAction[] {
  const troubles = [
    ...(snapshot?.age_seconds === null
      ? [`the snapshot is as of ${snapshot.as_of}, ahead of this machine's clock`]
      : []),
    ...(ahead === null ? [] : [describeFutureEffective(ahead)]),
  ];
  return troubles.map((what) => ({ what: `${what}; ${futureTimestampsAdvice}`, command: doctorRepair, ...alarm }));
}

function runActions(
  { snapshot, damage, last_failure: failure, refused_runs, refused_maintenance }: StatusReport,
  follows: boolean,
): AdvisedAction[] {
  const actions: AdvisedAction[] = [];
  if (snapshot === null && damage.length === 0)
    actions.push({
      what: 'no snapshot was published yet, so there is nothing to serve',
      command: follows ? serve : refresh,
    });
  // `sourceActions` covers pulls.
  if (failure !== null && !failure.recovered && !failure.pipeline.startsWith('pull '))
    actions.push({
      what: `${describeFailure(failure)} (${reasonOf(failure.error)}), and no run has been good since; \`offerline runs --failed\` shows more`,
      command: repairIn(failure.error) ?? againCommands[failure.pipeline] ?? refresh,
      ...alarm,
    });
  for (const refused of refusalTroubles([refused_runs, refused_maintenance]))
    actions.push({
      what: `${describeRefusedRuns(refused)}; no run has been good since`,
      command: againCommands[refusedPipeline(refused)] ?? refresh,
      ...alarm,
    });
  return actions;
}

/** Commands for pipelines whose work a refresh does not do. */
const againCommands: Record<string, string> = {
  maintenance: 'offerline run maintenance',
  backfill: 'offerline backfill reports',
};

function scheduleActions({ schedule }: StatusReport): AdvisedAction[] {
  const what = scheduleTrouble(schedule);
  const wrongClock = storageClockTrouble(schedule);
  return [
    ...(wrongClock === undefined ? [] : [{ what: `${wrongClock}; ${clockOffsetAdvice}`, command: doctor, ...alarm }]),
    ...(what === undefined ? [] : [{ what: `${what}; ${scheduleAdvice}`, command: doctor, ...alarm }]),
  ];
}

function configurationActions({ configuration }: StatusReport): AdvisedAction[] {
  return configuration === null
    ? []
    : [{ what: `${configuration}; ${configurationAdvice}`, command: doctor, ...alarm }];
}

function landingActions({ landing: { trouble, ignored, ignored_files } }: StatusReport): AdvisedAction[] {
  const named = ignored_files.map(({ path }) => path).join(', ');
  const [first] = ignored_files;
  return [
    ...(trouble === null ? [] : [{ what: trouble, command: doctor, ...alarm }]),
    ...(first === undefined
      ? []
      : [
          {
            what: `${counted(ignored, 'landing file')} not read (${named}${ignored > ignored_files.length ? ', …' : ''}), the first since ${first.why}`,
            command: doctor,
          },
        ]),
  ];
}

function fileActions({
  held,
  quarantined,
  set_aside,
  rejects_of_last_day,
  rejected_rows_of_last_day,
  absent_columns,
  conflicts,
  unread_currencies,
}: StatusReport): AdvisedAction[] {
  const actions: AdvisedAction[] = held.map(({ file_id, source, path, reason }) => ({
    what: `an export of ${source} is held, ${path} (${reason}): accept it where it is right, else land a better one`,
    command: `offerline offers accept ${file_id}`,
  }));
  const last = quarantined.at(-1);
  if (last !== undefined)
    actions.push({
      what: `${counted(quarantined.length, 'landing file')} cannot be read, the last ${last.path} (${last.reason}): ${fileCure(last.reason)}`,
      command: `offerline sql "SELECT path, reason FROM ingest_files WHERE status = 'quarantined' ORDER BY file_id DESC"`,
    });
  for (const { source, files, path, reason } of set_aside)
    actions.push({
      what: `${counted(files, 'newly landed export')} of ${source} did not count, the last ${path} (${reason}): land what should count under a new name`,
      command: refresh,
    });
  for (const { field, files, path } of absent_columns)
    actions.push({
      what: `${counted(files, 'file')} of the last 24 hours ${files === 1 ? 'lacks' : 'lack'} the column that the mapping reads ${field} from, which counts as absent, the last ${path}: put its mapping right`,
      command: `offerline sql "FROM ingest_warnings WHERE warning = 'no_column'"`,
    });
  for (const { kind, rows, files, path } of conflicts)
    actions.push({
      what: `${counted(rows, 'row')} of ${kind} in ${counted(files, 'file')} of the last 24 hours ${rows === 1 ? 'says' : 'say'} something else than the first one under the same id, and ${rows === 1 ? 'does' : 'do'} not count, the last in ${path}: ${conflictCure(kind)}`,
      command: `offerline sql "SELECT path, rows, conflicts FROM ingest_files WHERE conflicts > 0 ORDER BY file_id DESC LIMIT 20"`,
    });
  for (const { files, path } of unread_currencies)
    actions.push({
      what: `${counted(files, 'file')} of conversions of the last 24 hours ${files === 1 ? 'names' : 'name'} a currency that our own fields do not have, so all amounts count as USD, the last ${path}: where they are not, have its currency read by a mapping, as \`inspect\` proposes`,
      command: `offerline sql "FROM ingest_warnings WHERE warning = 'unknown_field' AND lower(field) = 'currency'"`,
    });
  const [mostRejected] = rejects_of_last_day;
  if (mostRejected !== undefined)
    actions.push({
      what: `${counted(rejected_rows_of_last_day, 'row')} of the last 24 hours rejected, most for ${mostRejected.reason}: ${rejectCure(mostRejected.reason)}`,
      command: 'offerline sql "FROM rejects ORDER BY file_id DESC, line LIMIT 20"',
    });
  return actions;
}

function sourceActions({ sources, sources_file, unreadable }: StatusReport): AdvisedAction[] {
  const failed = sources.filter(({ last_pull }) => last_pull === 'failed' || last_pull === 'interrupted');
  return [
    ...sources_file.map((what) => ({ what, command: 'offerline sources list', ...alarmIf(unreadable.includes(what)) })),
    ...failed.map(({ source, error, age_seconds, last_pull, ended_by_force }) => ({
      what: `source ${source} was not pulled (${reasonOf(error)}): ${age_seconds === null ? 'it was never pulled whole' : `its last whole pull was ${ageText(age_seconds)}`}`,
      command: `offerline sources pull ${shellWord(source)}`,
      ...alarmIf(last_pull === 'failed' || ended_by_force),
    })),
  ];
}

/** Single failed pictures are no action: their advertisers have to put them right. */
function pictureActions({ pictures }: StatusReport): AdvisedAction[] {
  return pictures === null || pictures.error === null
    ? []
    : [
        {
          what: `the last pass over pictures failed (${reasonOf(pictures.error)})`,
          command: 'offerline pictures',
          ...alarmIf(pictures.ended_by_force),
        },
      ];
}

function reportActions({ reports: { outdated, missing } }: StatusReport): AdvisedAction[] {
  if (outdated + missing === 0) return [];
  return [
    {
      what: `daily reports: ${outdated} outdated, ${missing} missing; \`offerline backfill reports --dry-run\` shows which`,
      command: 'offerline backfill reports',
    },
  ];
}

function postbackActions(report: StatusReport, allowed: number): AdvisedAction[] {
  const { postbacks, waiting_postbacks, silent_sites, sites, unknown_sites, unreadable } = report;
  const actions: AdvisedAction[] = sites.map((what) => ({
    what,
    command: 'offerline sites list',
    ...alarmIf(unreadable.includes(what)),
  }));
  const failed = describeFailedDelivery(report.pipelines, report.schedule.role);
  if (failed !== undefined) actions.push({ what: failed, command: 'offerline postbacks deliver', ...alarm });
  for (const { site_key, conversions } of unknown_sites)
    actions.push({
      what: `rewards of ${counted(conversions, 'conversion')} of the last 24 hours wait for site ${site_key}, which sites.json does not know`,
      command: 'offerline sites list',
    });
  for (const { site_key, due, waits_for } of waiting_postbacks)
    actions.push({
      what: `${counted(due, 'postback')} to site ${site_key} ${due === 1 ? 'waits' : 'wait'} for ${waits_for}`,
      command: waits_for.startsWith('a ') ? 'offerline sites list' : `offerline postbacks test ${shellWord(site_key)}`,
    });
  for (const silent of silent_sites) {
    const site = shellWord(silent.site_key);
    actions.push({
      what: `site ${silent.site_key} ${describeSilence(silent)}; once its receiver is mended, \`offerline postbacks retry --pending --site ${site}\` makes them due`,
      command: `offerline postbacks test ${site}`,
      ...alarmIf(silent.silent_seconds > allowed * 60),
    });
  }
  if (postbacks !== null && postbacks.dead > 0)
    actions.push({
      what: `${counted(postbacks.dead, 'postback')} given up; \`offerline postbacks list --state dead\` shows which and why`,
      command: 'offerline postbacks retry --all',
    });
  return actions;
}

function reasonOf(text: string | null): string {
  return text === null ? 'without an error' : headline(text);
}
