import { readFile } from 'node:fs/promises';
import { duePostbacks, earlierEvent } from '../../postbacks/due-postbacks.ts';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import type { Settings } from '../../kit/config/settings.ts';
import { readLanding, type LandingReport } from '../doctor/landing-folder.ts';
import { readSchedule, type ScheduleReport } from '../doctor/examine-schedule.ts';
import { examineMachine } from '../doctor/examine-disk.ts';
import { OfferlineError } from '../../kit/errors/errors.ts';
import { describeUnreadableNote } from '../../kit/files/note-file.ts';
import { hasStore, isShared, openStore, type StoreSettings } from '../../postbacks/open-store.ts';
import { readSilentSites, type SilentSite } from '../../postbacks/silent-sites.ts';
import { readWarehouseHolder } from '../runs/lock.ts';
import { readRefusedRuns, type RefusedRuns } from '../runs/refused-runs.ts';
import { readSites } from '../../kit/sites/sites.ts';
import { currentManifest, currentName, snapshotNames } from '../snapshot/snapshot-store.ts';
import { analyticsFile } from '../snapshot/manifest.ts';
import { realLeaseClocks } from '../runs/held-lease.ts';
import { aheadOfClock } from '../../kit/time/ahead-of-clock.ts';
import { dateOf, type Moment } from '../../kit/time/moment.ts';
import { readLastFailure, type LastFailure } from './last-failure.ts';
import { readPicturesReport, type PicturesReport } from './pictures-status.ts';
import { nothingPublished, readPublishedStatus, type PublishedStatus } from './published-status.ts';
import { readSourceReports, type SourceReport } from './pulls-status.ts';

/** How all stands, before it is held against any limit. */
export interface StatusReport extends PublishedStatus {
  /** The age is null where as-of lies ahead of the clock. */
  snapshot: {
    snapshot_id: string;
    as_of: Moment;
    age_seconds: number | null;
    row_counts: Record<string, number>;
  } | null;
  /** Who holds the warehouse. */
  running: { pid: number; command: string; since: string } | null;
  schedule: ScheduleReport;
  /** Null where there has never been a postback, or their store cannot be read. */
  postbacks: { pending: number; dead: number } | null;
  /**
   * Sites whose postbacks are due and wait: for a site or an address in `sites.json`, or the end of a pause after
   * failures.
   */
  waiting_postbacks: { site_key: string; due: number; waits_for: string }[];
  /** Sites that have taken nothing since, of those with postbacks that failed and wait; the longest first. */
  silent_sites: SilentSite[];
  last_failure: LastFailure | null;
  /** What failed since a run was good last, and is in no ledger as failed. */
  refused_runs: RefusedRuns | null;
  /** What of the state, the snapshot or the store of deliveries cannot be trusted or read. */
  damage: string[];
  /**
   * Room on the disk, folders that cannot be written, damaged files that were kept for people to look at, notes of
   * other processes that cannot be read, and a PostgreSQL that cannot be used.
   */
  machine: string[];
  /** What is wrong with `sites.json`; never a secret. */
  sites: string[];
  landing: LandingReport;
  /** The networks that are pulled. */
  sources: SourceReport[];
  /** Mirrored pictures; null where none are mirrored. */
  pictures: PicturesReport | null;
  /** What is wrong with `sources.json`; never a secret. */
  sources_file: string[];
  /**
   * What of these could not be read at all, so that the rest may be wrong; all of it is in `damage`, `machine`, `sites`
   * or `sources_file`, too.
   */
  unreadable: string[];
}

/**
 * One glance, from the published snapshot and files beside the warehouse, so that it answers while a run works. `now`
 * in milliseconds since the epoch.
 */
export async function readStatusReport(
  data: DataDirectory,
  settings: StoreSettings & Pick<Settings, 'pictures' | 'storage'>,
  now: number,
): Promise<StatusReport> {
  const { pictures } = settings;
  const notes: string[] = [];
  const standing: StatusReport = {
    snapshot: null,
    running: readWarehouseHolder(data) ?? null,
    schedule: readSchedule(data, settings, realLeaseClocks, (note) => notes.push(describeUnreadableNote(note))),
    ...nothingPublished,
    postbacks: null,
    waiting_postbacks: [],
    silent_sites: [],
    last_failure: readLastFailure(data),
    refused_runs: readRefusedRuns(data, (note) => notes.push(describeUnreadableNote(note))),
    damage: await damageOfState(data),
    machine: (await examineMachine(data)).map(({ subject, problem, advice }) => `${subject} ${problem}: ${advice}`),
    sites: [],
    landing: await readLanding(data, now),
    sources: [],
    pictures: pictures ? readPictures(data, now) : null,
    sources_file: [],
    unreadable: [],
  };
  standing.machine.push(...notes);
  const snapshotTrouble = await readSnapshot(data, standing, now);
  const storeTrouble = await readDeliveries(data, settings, standing, now);
  standing.unreadable.push(...snapshotTrouble, ...storeTrouble);
  standing.damage.push(...snapshotTrouble);
  // A store elsewhere that cannot be reached is no damage, and no repair here helps.
  standing[isShared(settings) ? 'machine' : 'damage'].push(...storeTrouble);
  await readSitesFile(data, standing);
  readPulls(data, standing, now);
  return standing;
}

async function damageOfState(data: DataDirectory): Promise<string[]> {
  const reason = await readFile(data.damageNote, 'utf8').catch(() => undefined);
  return reason === undefined
    ? []
    : [`the warehouse's state is damaged (${reason.trim()}); the next run brings it back, too`];
}

/** Fills in what the published snapshot tells. Gives what of it cannot be read. */
async function readSnapshot(data: DataDirectory, standing: StatusReport, now: number): Promise<string[]> {
  const manifest = await currentManifest(data);
  if (manifest === undefined) {
    // Nobody is served from it, and the next run publishes another: no reason to fail.
    standing.damage.push(...(await whyNoManifest(data)));
    return [];
  }
  const ageOf = (moment: Moment) => Math.max(0, Math.round((now - dateOf(moment).getTime()) / 1000));
  const { snapshot_id, as_of, row_counts } = manifest;
  standing.snapshot = {
    snapshot_id,
    as_of,
    age_seconds: aheadOfClock(as_of, now) > 0 ? null : ageOf(as_of),
    row_counts,
  };
  try {
    Object.assign(standing, await readPublishedStatus(data, now));
  } catch (error) {
    const { message } = error as Error;
    // Of a file that snapshots share only a look at every byte tells.
    const deep = message.includes(analyticsFile)
      ? ''
      : '; `offerline doctor --deep --repair` looks at every byte of it';
    return [`the published snapshot ${snapshot_id} cannot be read: ${message}${deep}`];
  }
  for (const each of standing.newest) each.age_seconds = each.newest === null ? null : ageOf(each.newest);
  return [];
}

async function whyNoManifest(data: DataDirectory): Promise<string[]> {
  try {
    const current = await currentName(data);
    if (current !== undefined) return [`the published snapshot ${current} has no manifest that can be read`];
    const kept = await snapshotNames(data);
    return kept.length === 0 ? [] : [`nothing links to one of the ${kept.length} published snapshots that lie there`];
  } catch (error) {
    return [`the link to the published snapshot cannot be read: ${(error as Error).message}`];
  }
}

/** Fills in how postbacks stand. Gives what is wrong with their store. */
async function readDeliveries(
  data: DataDirectory,
  settings: StoreSettings,
  standing: StatusReport,
  now: number,
): Promise<string[]> {
  if (!hasStore(data, settings)) return [];
  try {
    Object.assign(standing, await countPostbacks(data, settings, now));
    return [];
  } catch (error) {
    if (!(error instanceof OfferlineError)) throw error;
    return [error.message];
  }
}

/** What is wrong with `sites.json` is told beside all else: a status that ends over it would hide the rest. */
async function readSitesFile(data: DataDirectory, standing: StatusReport): Promise<void> {
  try {
    standing.sites = readSites(data.sitesFile).warnings;
    if (standing.postbacks !== null)
      standing.waiting_postbacks = (await duePostbacks(data)).filter(
        ({ waits_for }) => waits_for !== '' && waits_for !== earlierEvent,
      );
  } catch (error) {
    if (!(error instanceof OfferlineError)) throw error;
    standing.sites = [error.message];
    standing.unreadable.push(error.message);
  }
}

/** The next pass begins an index anew that cannot be read. */
function readPictures(data: DataDirectory, now: number): PicturesReport {
  try {
    return readPicturesReport(data, now);
  } catch (error) {
    const problem = `their index cannot be read: ${(error as Error).message}`;
    return { mirrored: 0, failing: 0, last_pass_at: null, age_seconds: null, error: problem, ended_by_force: false };
  }
}

/** Fills in how pulls stand; a file that cannot be used is told beside all else. */
function readPulls(data: DataDirectory, standing: StatusReport, now: number): void {
  try {
    standing.sources = readSourceReports(data, now);
  } catch (error) {
    if (!(error instanceof OfferlineError)) throw error;
    standing.sources_file = [error.message];
    standing.unreadable.push(error.message);
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
