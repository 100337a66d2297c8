import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DuckdbEngine } from '../ingest/engine/duckdb-engine.ts';
import { rollUpClicks } from '../ingest/events/click-roll-up.ts';
import { readSettings, type Settings } from '../../kit/config/settings.ts';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { UsageError } from '../../kit/errors/errors.ts';
import { isDiskUnwritable } from '../../kit/errors/machine-failure.ts';
import { quarantineDeliveries } from '../../postbacks/store/quarantine-deliveries.ts';
import type { Day } from '../../kit/time/moment.ts';
import { noProgress, type Progress } from '../../kit/logging/progress.ts';
import { writeLake } from '../snapshot/lake/write-lake.ts';
import { snapshotNames, switchCurrent } from '../snapshot/snapshot-store.ts';
import { lastRunId } from '../runs/run-ledger.ts';
import { DamagedStateError, OlderStateError, openStateDatabase, type StateDatabase } from '../warehouse/database.ts';
import { eventFilePaths } from '../warehouse/event-files.ts';
import { eventKinds } from '../../kit/vocabulary/values.ts';
import { bumpRevision } from '../warehouse/metadata.ts';
import { unnamedFiles } from '../warehouse/named-files.ts';
import { writeKeysAgain } from '../warehouse/keys/upkeep.ts';
import { QuarantineFolder } from '../../kit/files/quarantine-folder.ts';
import { repairFutureDates } from './repair-future-dates.ts';
import { examinePublishedTime, examineTimes } from './examine-clock.ts';
import { examineDeliveries } from './examine-deliveries.ts';
import { closeFolders, examineAccess } from './examine-access.ts';
import { examineCopies, examineLanding, examineSnapshots } from './examine-disk.ts';
import { examineMachine } from './examine-machine.ts';
import { examinePictures } from './examine-pictures.ts';
import { examineRuns } from './examine-runs.ts';
import { examineSites } from './examine-sites.ts';
import { examineSchedule } from './examine-schedule.ts';
import { examineLandingFolder } from './landing-folder.ts';
import { examineSources } from './examine-sources.ts';
import { examineGoneSites, examineGoneSources } from './gone-files.ts';
import { examineState } from './examine-state.ts';
import { note, trouble, type Finding } from './finding.ts';
import { assertLogsLanded, resetLogs } from '../recovery/reset-logs.ts';
import { invalidateMarts, markMartDays } from '../warehouse/dirty-partitions.ts';
import { newestGoodToPublish, publishedFolders } from '../recovery/published-folders.ts';
import { recoverState, type Opening } from '../recovery/recover-state.ts';
import { restoreFiles } from '../recovery/restore-files.ts';

export interface DoctorRequest {
  /** Reads every byte of events, marts, snapshots, copies, pictures and landing files. */
  deep: boolean;
  /** Repairs what can be repaired. */
  repair: boolean;
  progress: Progress;
}

export interface Diagnosis {
  findings: Finding[];
  /** Findings that were repaired. A refresh publishes then; its as-of may go back where one is of the clock. */
  repaired: Finding[];
}

/** Examines the data directory, and repairs it where asked to. The caller holds the writer lock. */
export async function examine(opening: Opening, request: DoctorRequest): Promise<Diagnosis> {
  const settings = readSettings(opening.data);
  // It has no state, and storage brings it whatever it lacks.
  const isFollower = settings.storage?.follow === true;
  const { findings, damaged } = await examineFiles(opening, settings, request.deep);
  if (isFollower) leaveToWriter(findings);
  if (request.repair) {
    closeFolders(findings);
    await putDeliveriesAside(opening, findings);
    await putPullsAside(opening, findings);
  }
  // A damaged snapshot may share event files with the warehouse: all are read before it is moved away.
  const deep = request.deep || (request.repair && damaged.snapshots.length > 0);
  if (!isFollower)
    await examineWarehouse(opening, request, deep, findings).catch((error: unknown) => {
      if (request.repair || !isDiskUnwritable(error)) throw error;
      findings.push(unexamined(opening.data, error as Error));
    });
  if (!request.repair) return { findings, repaired: [] };
  for (const path of damaged.pictures) await opening.effects.files.remove(path, 'damaged picture: removed');
  // Comes last: a damaged snapshot or copy may still have files that the state needs.
  await putFoldersAside(opening, damaged, findings);
  return { findings, repaired: findings.filter(({ repairable }) => repairable) };
}

/** Examines all but the state where the disk cannot be written, so that the lock cannot be taken, by `cause`. */
export async function examineUnwritable(opening: Opening, deep: boolean, cause: Error): Promise<Diagnosis> {
  const settings = readSettings(opening.data);
  const { findings } = await examineFiles(opening, settings, deep);
  if (settings.storage?.follow === true) leaveToWriter(findings);
  else findings.push(unexamined(opening.data, cause));
  return { findings, repaired: [] };
}

function unexamined({ stateFile }: DataDirectory, error: Error): Finding {
  // The error itself has advice, which the findings about the machine have, too.
  const { message } = error.cause instanceof Error ? error.cause : error;
  const problem = `was not looked at, since the disk cannot be written: ${message}`;
  return note('state', stateFile, problem, 'run `offerline doctor` again once it can be');
}

/** What is damaged beside the warehouse: names of snapshots, paths of copies and of pictures. */
interface DamagedFiles {
  snapshots: string[];
  copies: string[];
  pictures: string[];
}

/** Examines all but the warehouse. */
async function examineFiles(
  { data, effects }: Opening,
  settings: Settings,
  deep: boolean,
): Promise<{ findings: Finding[]; damaged: DamagedFiles }> {
  const none = { findings: [], damaged: [] };
  const now = effects.now();
  const machine = [...(await examineMachine(data)).findings, ...examineAccess(data)];
  const snapshots = await examineSnapshots(data, deep);
  const copies = settings.storage?.follow === true ? none : await examineCopies(data, deep);
  const deliveries = await examineDeliveries(data, deep, now);
  const pictures = deep ? await examinePictures(data) : none;
  const findings = [
    ...machine,
    ...snapshots.findings,
    ...copies.findings,
    ...deliveries,
    ...pictures.findings,
    ...(await examinePublishedTime(data, now)),
    ...examineRuns(data),
    ...examineSchedule(data, settings),
    ...examineSites(data),
    ...(await examineGoneSites(data, settings)),
    ...examineSources(data),
    ...examineGoneSources(data),
    ...(await examineLandingFolder(data, settings, now)),
  ];
  const damaged = { snapshots: snapshots.damaged, copies: copies.damaged, pictures: pictures.damaged };
  return { findings, damaged };
}

async function putDeliveriesAside({ data, effects }: Opening, findings: readonly Finding[]): Promise<void> {
  const damaged = findings.filter(({ check, repairable }) => check === 'deliveries' && repairable);
  if (damaged.length === 0) return;
  const reason = damaged.map(({ problem }) => problem).join('\n');
  const lock = { command: 'doctor --repair', waitSeconds: 0, onWaiting: () => undefined };
  await quarantineDeliveries(data, reason, lock, effects);
}

/** A pull under way fails by the damage anyway, so no lock is taken. */
async function putPullsAside({ data, effects }: Opening, findings: readonly Finding[]): Promise<void> {
  const damaged = findings.find(({ check }) => check === 'pulls');
  if (damaged === undefined) return;
  const aside = await QuarantineFolder.make(data, damaged.problem, effects);
  for (const ending of ['', '-wal', '-shm']) await aside.moveIn(`${data.pullLedgerFile}${ending}`);
}

async function examineWarehouse(
  opening: Opening,
  request: DoctorRequest,
  deep: boolean,
  findings: Finding[],
): Promise<void> {
  let state = await openUnrepaired(opening, request, findings);
  const damage = findings.find(({ check }) => check === 'state');
  if (state === undefined && request.repair && damage !== undefined)
    state = await recoverState(opening, damage.problem);
  try {
    if (state !== undefined) state = await examineOpen(opening, { ...request, deep }, state, findings);
  } finally {
    await state?.close();
  }
}

/** `--repair` is refused on a machine that follows storage. */
function leaveToWriter(findings: readonly Finding[]): void {
  for (const finding of findings.filter(({ repairable }) => repairable)) {
    finding.repairable = false;
    if (finding.check === 'clock') finding.advice += ', by `offerline doctor --repair` on the machine that writes';
    if (finding.check === 'snapshots') finding.advice = 'the next one of storage takes its place';
  }
}

/**
 * Opens the state without recovering it. Returns undefined where there is none, or with a finding where it is damaged,
 * or of an older version and nothing is to be repaired.
 */
async function openUnrepaired(
  { data, settings, effects }: Opening,
  { repair }: DoctorRequest,
  findings: Finding[],
): Promise<StateDatabase | undefined> {
  const newest = (await publishedFolders(data))[0];
  const damaged = (problem: string): undefined => {
    findings.push(
      trouble(
        'state',
        data.stateFile,
        problem,
        'it is moved to put-aside/ and restored from the newest good copy, as by the next run',
      ),
    );
    return undefined;
  };
  if (existsSync(data.damageNote)) return damaged((await readFile(data.damageNote, 'utf8')).trim());
  if (!existsSync(data.stateFile))
    return newest === undefined ? undefined : damaged('is missing, although a snapshot was published');
  let state: StateDatabase;
  try {
    state = await openStateDatabase(data, settings, undefined, effects, { upgrade: repair });
  } catch (error) {
    if (error instanceof OlderStateError) {
      const problem = 'is of an older version, and nothing in it was looked at';
      findings.push(note('state', data.stateFile, problem, 'the next run upgrades it; look again then'));
      return undefined;
    }
    if (!(error instanceof DamagedStateError)) throw error;
    return damaged(error.message);
  }
  if (newest === undefined || (await lastRunId(state.connection)) >= newest.manifest.run_id) return state;
  await state.close();
  return damaged(`is older than the published snapshot ${newest.manifest.snapshot_id}`);
}

/** Examines and repairs an open state. Returns the state that is open afterwards. */
async function examineOpen(
  opening: Opening,
  { deep, repair, progress }: DoctorRequest,
  state: StateDatabase,
  findings: Finding[],
): Promise<StateDatabase> {
  const { data, effects } = opening;
  let read = 0;
  progress.start('reading files, bytes');
  const onRead = (bytes: number) => progress.advance((read += bytes));
  try {
    const examined = await examineState(data, state, { deep, onRead });
    for (const finding of examined.findings) findings.push(finding);
    const damage = examined.findings.find(({ check }) => check === 'state');
    if (damage !== undefined) {
      if (!repair) return state;
      await state.close();
      return await recoverState(opening, damage.problem);
    }
    const ofLanding = await examineLanding(data, state.connection, { deep, onRead });
    for (const finding of [...ofLanding, ...(await examineTimes(data, state.connection, effects.now()))])
      findings.push(finding);
    if (!repair) return state;
    if (examined.troubled.length > 0) {
      const aside = await QuarantineFolder.make(
        data,
        examined.troubled.map(({ path, trouble: kind }) => `${path}: ${kind}`).join('\n'),
        effects,
      );
      const lost = await restoreFiles(data, examined.troubled, aside, effects);
      await state.transaction(() => invalidateMarts(state.connection, lost), 'repair of marts');
      if (lost.some(({ table }) => table === 'event_files')) await readLogsAgain(opening, state, aside, findings);
    }
    for (const kind of eventKinds)
      if (findings.some(({ check, subject }) => check === 'keys' && subject === kind))
        await state.transaction(
          async () =>
            writeKeysAgain({ connection: state.connection, data, effects }, kind, await lastRunId(state.connection)),
          'keys written again',
        );
    for (const path of examined.unnamed) await effects.files.remove(path, 'unnamed warehouse file: removed');
    if (findings.some(({ subject }) => subject === 'click_hourly')) await rollUpAgain(opening, state);
    if (examined.wrongSums.length > 0) await sumAgain(state, examined.wrongSums);
    if (findings.some(({ check }) => check === 'clock')) await repairFutureDates(state, effects.now());
    return state;
  } finally {
    progress.finish();
  }
}

/** Makes the next ingest read all logs again, where the landing folder has them all. */
async function readLogsAgain(
  { data }: Opening,
  state: StateDatabase,
  aside: QuarantineFolder,
  findings: readonly Finding[],
): Promise<void> {
  try {
    await assertLogsLanded(state.connection, data);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    for (const finding of findings.filter(({ check, subject }) => check === 'files' && subject.startsWith('events/'))) {
      finding.repairable = false;
      finding.advice = `no snapshot has its bytes, and ${error.message}`;
    }
    return;
  }
  await resetLogs(state);
  for (const path of await unnamedFiles(state.connection, data)) await aside.moveIn(path);
}

async function rollUpAgain({ data, effects }: Opening, state: StateDatabase): Promise<void> {
  const { connection, db } = state;
  await state.transaction(async () => {
    await markMartDays(connection, 'SELECT hour::DATE AS day FROM click_hourly');
    await db.deleteFrom('click_hourly').execute();
    const engine = new DuckdbEngine({ data, effects, progress: noProgress }, connection);
    await rollUpClicks(connection, engine, await eventFilePaths(connection, data, 'clicks'));
    await bumpRevision(connection);
  }, 'repair of the roll-up');
}

async function sumAgain(state: StateDatabase, days: readonly Day[]): Promise<void> {
  const { connection } = state;
  await state.transaction(async () => {
    await markMartDays(connection, days.map((day) => `SELECT DATE '${day}' AS day`).join(' UNION ALL '));
    await bumpRevision(connection);
  }, 'repair of sums');
}

/** Damaged snapshots are better than none: without a good one they stay until a refresh has published. */
async function putFoldersAside(
  { data, effects }: Opening,
  { snapshots, copies }: DamagedFiles,
  findings: readonly Finding[],
): Promise<void> {
  const good = await newestGoodToPublish(data, effects.now());
  const replaced = good === undefined ? [] : snapshots.map((name) => join(data.published, name));
  const damaged = [...replaced, ...copies];
  if (damaged.length > 0) {
    const reason = findings
      .filter(({ check }) => check === 'snapshots' || check === 'copies')
      .map(({ problem }) => problem)
      .join('\n');
    const aside = await QuarantineFolder.make(data, reason, effects);
    const moved = new Set(damaged);
    const others = (await snapshotNames(data)).filter((name) => !moved.has(join(data.published, name)));
    await writeLake(data, others, effects);
    for (const path of damaged) await aside.moveIn(path);
  }
  if (good !== undefined && !existsSync(data.current))
    await switchCurrent(data, good.manifest.snapshot_id, effects.files);
}
