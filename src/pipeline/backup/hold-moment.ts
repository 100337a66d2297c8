import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import type { Settings } from '../../kit/config/settings.ts';
import { duckdbOptions } from '../../kit/duckdb/duckdb-options.ts';
import { findDatabaseDamage } from '../../kit/duckdb/check-database.ts';
import { openDuckDB } from '../../kit/duckdb/open.ts';
import { OfferlineError, UsageError } from '../../kit/errors/errors.ts';
import { momentOfMilliseconds } from '../../kit/time/moment.ts';
import { isStagedExport } from '../../sources/offer-export.ts';
import { forgetSyncPositions } from '../deliveries/sync-deliveries.ts';
import { findLandingFiles } from '../landing/files/find-files.ts';
import { archivableFiles } from '../maintenance/archivable-files.ts';
import { openWarehouse, type Opening } from '../recovery/recover-state.ts';
import { lastRunId } from '../runs/run-ledger.ts';
import { manifestFile } from '../snapshot/manifest.ts';
import { currentManifest } from '../snapshot/snapshot-store.ts';
import { kyselyOn } from '../warehouse/kysely.ts';
import { namedFiles } from '../warehouse/named-files.ts';
import { HeldFiles, withinData } from './held-files.ts';
import type { BackupManifest } from './backup-manifest.ts';

/** Files as they are at one moment, and what a backup says of them. */
export interface HeldMoment {
  held: HeldFiles;
  about: Pick<BackupManifest, 'created_at' | 'run_id' | 'as_of' | 'snapshot_id' | 'landing'>;
}

/** Logs of a tracker of this data directory. */
export interface TrackerLogs {
  /** Paths within landing that a tracker reads at its start. */
  needed: ReadonlySet<string>;
  /** Absolute paths of logs that are still written to. */
  parts(): string[];
}

/**
 * Holds everything that a backup needs. The caller holds the writer's lock, so no run changes state, Parquet files or
 * snapshots meanwhile; trackers, pulls and deliveries go on. The order decides what may be doubled: see the README.
 */
export async function holdMoment(
  opening: Opening & { settings: Settings },
  { allLanding, tracker }: { allLanding: boolean; tracker: TrackerLogs },
): Promise<HeldMoment> {
  const { data, effects } = opening;
  if (!existsSync(data.stateFile) && !existsSync(data.damageNote))
    throw new UsageError(`${data.root} has no warehouse yet: run \`offerline run refresh\` first`);
  await effects.files.remove(data.backupDraft, 'backup: leftover removed');
  await effects.files.makeDirectory(data.backupDraft);
  const held = new HeldFiles(data, effects);
  const of = (absolute: string) => withinData(data, absolute);
  for (const file of [data.settingsFile, data.sitesFile, data.sourcesFile]) await held.copy(of(file));
  // Before landing: what these say was written is then there, too.
  await held.copySqlite(of(data.pullLedgerFile));
  // Those that the ledger names are emitted, and a pull that was killed has not named its file yet.
  await held.copyFolder(of(join(data.landing, 'conversions')), isStagedExport);
  await held.copy(of(data.completionsFile));
  const { runId, archivable } = await holdState(opening, held, tracker);
  if (opening.settings.postbacks.store === undefined) await held.copySqlite(of(data.deliveriesFile));
  const now = effects.now();
  const published = await holdSnapshot(data, held);
  await held.copy(of(data.clickKeysFile));
  await held.copyFolder(of(data.refusedConversions));
  await held.copyFolder(of(data.routes), (name) => name.endsWith('.json'));
  held.noteLink(of(data.currentRoutes));
  await held.copyFolder(of(data.console), (name) => name === 'users.json' || name === 'actions.ndjson');
  await holdLanding(data, held, { archivable: allLanding ? new Set() : archivable, tracker, now });
  return {
    held,
    about: {
      created_at: momentOfMilliseconds(now),
      run_id: runId,
      as_of: published?.as_of ?? null,
      snapshot_id: published?.snapshot_id ?? null,
      landing: allLanding ? 'all' : 'needed',
    },
  };
}

/** Holds the state and the Parquet files that it names. Returns its last run, and landing files that no run needs. */
async function holdState(
  opening: Opening,
  held: HeldFiles,
  tracker: TrackerLogs,
): Promise<{ runId: number; archivable: ReadonlySet<string> }> {
  const { data } = opening;
  const state = await openWarehouse(opening);
  let found: Awaited<ReturnType<typeof readState>>;
  async function readState() {
    const keyRuns = await kyselyOn(state.connection)
      .selectFrom('key_runs')
      .select(['path', 'bytes', 'sha256'])
      .execute();
    const archivable = await archivableFiles(data, state, Number.MAX_SAFE_INTEGER, (path) => tracker.needed.has(path));
    return {
      files: [...(await namedFiles(state.connection)), ...keyRuns],
      runId: await lastRunId(state.connection),
      archivable: new Set(archivable.map(({ path }) => path)),
    };
  }
  try {
    found = await readState();
  } finally {
    await state.close();
  }
  const path = withinData(data, data.stateFile);
  await held.copy(path);
  for (const file of found.files)
    await held.link(withinData(data, join(data.warehouse, file.path)), { bytes: file.bytes, sha256: file.sha256 });
  return found;
}

/** Holds the published snapshot. Returns its manifest; undefined where nothing is published. */
async function holdSnapshot(data: DataDirectory, held: HeldFiles) {
  const manifest = await currentManifest(data);
  if (manifest === undefined) return undefined;
  const folder = withinData(data, join(data.published, manifest.snapshot_id));
  for (const [path, expected] of Object.entries(manifest.files)) await held.link(`${folder}/${path}`, expected);
  await held.copy(`${folder}/${manifestFile}`);
  held.noteLink(withinData(data, data.current));
  return manifest;
}

/** Age below which a landing file is copied, not referred to. */
const youngMilliseconds = 10 * 60_000;

/** Holds landing files but those that nothing reads any more, and the tracker's logs under way. */
async function holdLanding(
  data: DataDirectory,
  held: HeldFiles,
  { archivable, tracker, now }: { archivable: ReadonlySet<string>; tracker: TrackerLogs; now: number },
): Promise<void> {
  // Logs under way first: one that is handed over in between is a whole file of the list below.
  for (const part of tracker.parts())
    await held.copyLines(
      withinData(data, part),
      withinData(data, join(dirname(part), `backup-${basename(part, '.part')}`)),
    );
  const { files } = await findLandingFiles(data.landing, () => true);
  for (const { path, absolutePath, modifiedNs } of files) {
    if (archivable.has(path)) continue;
    const within = `${withinData(data, data.landing)}/${path}`;
    // One that was written to a moment ago may be replaced or removed before the archive has it.
    if (Number(modifiedNs / 1_000_000n) > now - youngMilliseconds) await held.copy(within);
    else held.refer(within, absolutePath);
  }
}

/**
 * Prepares the held copy of the state for its other life, and reads it whole: a store of deliveries that lived on, or
 * is older, has other numbers than this state knows, so that the first run there compares all of them. Throws
 * `OfferlineError` where the state is damaged. Needs no lock.
 */
export async function prepareState(data: DataDirectory, settings: Settings): Promise<void> {
  const path = join(data.backupDraft, withinData(data, data.stateFile));
  const database = await openDuckDB(path, { ...duckdbOptions(data, settings), temp_directory: `${path}.spill` });
  try {
    await forgetSyncPositions(database.connection);
    await database.connection.run('CHECKPOINT');
  } finally {
    database.close();
  }
  const damage = await findDatabaseDamage(path);
  if (damage === undefined) return;
  throw new OfferlineError(
    `${data.stateFile} is damaged, and nothing was written: \`offerline doctor --deep --repair\` restores it. ${damage.message}`,
    undefined,
    { cause: damage },
  );
}
