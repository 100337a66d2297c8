import { readFile } from 'node:fs/promises';
import { duePostbacks, earlierEvent } from '../../postbacks/due-postbacks.ts';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import type { Settings } from '../../kit/config/settings.ts';
import { readLanding, type LandingReport } from '../doctor/landing-folder.ts';
import { readSchedule, type ScheduleReport } from '../doctor/examine-schedule.ts';
import { examineMachine, type DiskState } from '../doctor/examine-machine.ts';
import type { Finding } from '../doctor/finding.ts';
import { examineGoneSites, examineGoneSources, isPublishedCopy } from '../doctor/gone-files.ts';
import { OfferlineError } from '../../kit/errors/errors.ts';
import { isSqliteUnwritable } from '../../kit/sqlite/open-sqlite.ts';
import { describeUnreadableNote, type UnreadableNote } from '../../kit/files/note-file.ts';
import { hasStore, isShared, openStore, type StoreSettings } from '../../postbacks/open-store.ts';
import { readSilentSites, type SilentSite } from '../../postbacks/silent-sites.ts';
import { configurationTrouble } from '../runs/configuration-note.ts';
import { readWarehouseHolder } from '../runs/lock.ts';
import { readRefusedMaintenance, readRefusedRuns, type RefusedRuns } from '../runs/refused-runs.ts';
import { readSites } from '../../kit/sites/sites.ts';
import { currentManifest, currentName, snapshotNames } from '../snapshot/snapshot-store.ts';
import { analyticsFile } from '../snapshot/manifest.ts';
import { realLeaseClocks } from '../runs/held-lease.ts';
import { aheadOfClock } from '../../kit/time/ahead-of-clock.ts';
import { dateOf, type Moment } from '../../kit/time/moment.ts';
import { readPipelineReports, type PipelineReport } from './pipelines-status.ts';
import { readLastFailure, type LastFailure } from './last-failure.ts';
import { readPicturesReport, type PicturesReport } from './pictures-status.ts';
import { nothingPublished, readPublishedStatus, type PublishedStatus } from './published-status.ts';
import { readSourceReports, type SourceReport } from './pulls-status.ts';

/** Facts of `status`, without the limits of `offerline.json`. */
export interface StatusReport extends PublishedStatus {
  /** The age is null for an as-of ahead of the clock. */
  snapshot: {
    snapshot_id: string;
    as_of: Moment;
    age_seconds: number | null;
    row_counts: Record<string, number>;
  } | null;
  /** Process that holds the warehouse. */
  running: { pid: number; command: string; since: string } | null;
  schedule: ScheduleReport;
  /** How the last run of each pipeline on this machine ended, also of one that could not begin. */
  pipelines: PipelineReport[];
  /** Null where there never was a postback, or their store cannot be read. */
  postbacks: { pending: number; dead: number } | null;
  /** Due postbacks by site that wait for a site or an address in `sites.json`, or for the end of a pause. */
  waiting_postbacks: { site_key: string; due: number; waits_for: string }[];
  /** Sites with failed and waiting postbacks that have accepted none since, the longest silent first. */
  silent_sites: SilentSite[];
  /** Configuration files that differ from those of the machine that published last, as a sentence; null without any. */
  configuration: string | null;
  last_failure: LastFailure | null;
  /** Runs since the last good one that failed and that no ledger has as failed. */
  refused_runs: RefusedRuns | null;
  /** The same of maintenance, for which a good refresh does not make up. */
  refused_maintenance: RefusedRuns | null;
  /** Damage of the state, the snapshot or the delivery store. */
  damage: string[];
  /**
   * Little free space, folders that cannot be written, damaged files in put-aside/, unreadable notes of other
   * processes, and a PostgreSQL that cannot be used.
   */
  machine: string[];
  /** Those of `machine` by which the next run, or the next snapshot to follow, fails for sure, in no ledger. */
  stops_runs: string[];
  /** Trouble with `sites.json`, without secrets. */
  sites: string[];
  landing: LandingReport;
  /** Sources that this machine pulls. */
  sources: SourceReport[];
  /** Mirrored pictures; null where none are mirrored. */
  pictures: PicturesReport | null;
  /** Trouble with `sources.json`, without secrets. */
  sources_file: string[];
  /**
   * Parts that could not be read at all, so that the rest may be wrong; each is also in `damage`, `machine`, `sites` or
   * `sources_file`.
   */
  unreadable: string[];
}

/**
 * Reads the published snapshot and files beside the warehouse, so that it works during a run. `now` in milliseconds
 * since the epoch.
 */
export async function readStatusReport(
  data: DataDirectory,
  settings: StoreSettings & Pick<Settings, 'pictures' | 'storage'>,
  now: number,
  disk?: DiskState,
): Promise<StatusReport> {
  const { pictures } = settings;
  const notes: string[] = [];
  const onUnreadable = (note: UnreadableNote) => notes.push(describeUnreadableNote(note));
  const schedule = readSchedule(data, settings, realLeaseClocks, onUnreadable);
  const machine = await examineMachine(data, disk);
  const report: StatusReport = {
    snapshot: null,
    running: readWarehouseHolder(data) ?? null,
    schedule,
    pipelines: readPipelineReports(data, now, onUnreadable),
    ...nothingPublished,
    configuration:
      configurationTrouble(data, settings.storage?.url, (note) => notes.push(describeUnreadableNote(note))) ?? null,
    postbacks: null,
    waiting_postbacks: [],
    silent_sites: [],
    last_failure: readLastFailure(data, onUnreadable),
    refused_runs: readRefusedRuns(data, onUnreadable),
    refused_maintenance: readRefusedMaintenance(data, onUnreadable),
    damage: await damageOfState(data),
    machine: machine.findings.map(describeFinding),
    // Nothing here runs or follows.
    stops_runs:
      schedule.role === 'neither' && (await isPublishedCopy(data, settings))
        ? []
        : machine.stopping.map(describeFinding),
    sites: [],
    landing: await readLanding(data, settings, now),
    sources: [],
    // On standby none are mirrored, and a pass that ended by force did so before.
    pictures: pictures && schedule.role !== 'stands_by' ? readPictures(data, now) : null,
    sources_file: [],
    unreadable: [],
  };
  report.machine.push(...notes);
  const snapshotTrouble = await readSnapshot(data, report, now);
  const storeTrouble = await readDeliveries(data, settings, report, now);
  const storeMessages = storeTrouble === undefined ? [] : [storeTrouble.message];
  report.unreadable.push(...snapshotTrouble, ...storeMessages);
  report.damage.push(...snapshotTrouble);
  report[storeTrouble?.isDamage === true ? 'damage' : 'machine'].push(...storeMessages);
  await readSitesFile(data, settings, report);
  readPulls(data, report, now);
  return report;
}

function describeFinding({ subject, problem, advice }: Finding): string {
  return `${subject} ${problem}: ${advice}`;
}

async function damageOfState(data: DataDirectory): Promise<string[]> {
  const reason = await readFile(data.damageNote, 'utf8').catch(() => undefined);
  return reason === undefined
    ? []
    : [`the warehouse's state is damaged (${reason.trim()}); the next run restores it, too`];
}

/** Adds the published snapshot's part. Returns what of it cannot be read. */
async function readSnapshot(data: DataDirectory, report: StatusReport, now: number): Promise<string[]> {
  const manifest = await currentManifest(data);
  if (manifest === undefined) {
    // No failure: nobody is served from it, and the next run publishes another.
    report.damage.push(...(await whyNoManifest(data)));
    return [];
  }
  const ageOf = (moment: Moment) => Math.max(0, Math.round((now - dateOf(moment).getTime()) / 1000));
  const { snapshot_id, as_of, row_counts } = manifest;
  report.snapshot = {
    snapshot_id,
    as_of,
    age_seconds: aheadOfClock(as_of, now) > 0 ? null : ageOf(as_of),
    row_counts,
  };
  try {
    Object.assign(report, await readPublishedStatus(data, now));
  } catch (error) {
    const { message } = error as Error;
    // Only reading every byte shows damage of a shared file.
    const deep = message.includes(analyticsFile)
      ? ''
      : '; `offerline doctor --deep --repair` looks at every byte of it';
    return [`the published snapshot ${snapshot_id} cannot be read: ${message}${deep}`];
  }
  for (const each of report.newest) each.age_seconds = each.newest === null ? null : ageOf(each.newest);
  return [];
}

async function whyNoManifest(data: DataDirectory): Promise<string[]> {
  try {
    const current = await currentName(data);
    if (current !== undefined) return [`the published snapshot ${current} has no manifest that can be read`];
    const kept = await snapshotNames(data);
    return kept.length === 0 ? [] : [`no link names one of the ${kept.length} published snapshots`];
  } catch (error) {
    return [`the link to the published snapshot cannot be read: ${(error as Error).message}`];
  }
}

/** Adds the state of postbacks. Returns trouble with their store. */
async function readDeliveries(
  data: DataDirectory,
  settings: StoreSettings,
  report: StatusReport,
  now: number,
): Promise<{ message: string; isDamage: boolean } | undefined> {
  if (!hasStore(data, settings)) return undefined;
  try {
    Object.assign(report, await countPostbacks(data, settings, now));
    return undefined;
  } catch (error) {
    if (!(error instanceof OfferlineError)) throw error;
    // No repair here could mend a store elsewhere that cannot be reached, or a disk that cannot be written.
    return { message: error.message, isDamage: !isShared(settings) && !isSqliteUnwritable(error.cause) };
  }
}

/** Adds trouble with `sites.json`, which must not end the whole status. */
async function readSitesFile(
  data: DataDirectory,
  settings: Pick<Settings, 'storage'>,
  report: StatusReport,
): Promise<void> {
  try {
    const { warnings } = readSites(data.sitesFile);
    const gone = (await examineGoneSites(data, settings)).map(describeFinding);
    report.sites = gone.length === 0 ? warnings : gone;
    report.unreadable.push(...gone);
    if (report.postbacks !== null)
      report.waiting_postbacks = (await duePostbacks(data)).filter(
        ({ waits_for }) => waits_for !== '' && waits_for !== earlierEvent,
      );
  } catch (error) {
    if (!(error instanceof OfferlineError)) throw error;
    report.sites = [error.message];
    report.unreadable.push(error.message);
  }
}

/** Reads the pictures' state; an unreadable index is its error, since the next pass makes a new one. */
function readPictures(data: DataDirectory, now: number): PicturesReport {
  try {
    return readPicturesReport(data, now);
  } catch (error) {
    const problem = `their index cannot be read: ${(error as Error).message}`;
    return { mirrored: 0, failing: 0, last_pass_at: null, age_seconds: null, error: problem, ended_by_force: false };
  }
}

/** Adds the state of pulls, or the trouble with `sources.json`. On standby there are none: the writer pulls. */
function readPulls(data: DataDirectory, report: StatusReport, now: number): void {
  try {
    const sources = readSourceReports(data, now);
    report.sources = report.schedule.role === 'stands_by' ? [] : sources;
    report.sources_file = examineGoneSources(data).map(describeFinding);
    report.unreadable.push(...report.sources_file);
  } catch (error) {
    if (!(error instanceof OfferlineError)) throw error;
    report.sources_file = [error.message];
    report.unreadable.push(error.message);
  }
}

async function countPostbacks(
  data: DataDirectory,
  settings: StoreSettings,
  now: number,
): Promise<Pick<StatusReport, 'postbacks' | 'silent_sites'>> {
  const store = await openStore(data, settings);
  try {
    return {
      postbacks: { pending: await store.count({ state: 'pending' }), dead: await store.count({ state: 'dead' }) },
      silent_sites: await readSilentSites(store, now),
    };
  } finally {
    await store.close();
  }
}
