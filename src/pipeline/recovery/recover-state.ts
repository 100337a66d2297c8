import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import type { Settings } from '../../kit/config/settings.ts';
import type { Effects } from '../../kit/files/effects.ts';
import { warehouseIdKey } from '../deliveries/sync-deliveries.ts';
import { currentManifest } from '../snapshot/snapshot-store.ts';
import type { Logger } from '../../kit/logging/log.ts';
import { eventKinds } from '../../kit/vocabulary/values.ts';
import { lastRunId } from '../runs/run-ledger.ts';
import { DamagedStateError, openStateDatabase, isDamage, type StateDatabase } from '../warehouse/database.ts';
import { bumpRevision, deleteMetadata } from '../warehouse/metadata.ts';
import { namedFiles, unnamedFiles } from '../warehouse/named-files.ts';
import { QuarantineFolder } from '../../kit/files/quarantine-folder.ts';
import { rewriteDatabase } from '../../kit/duckdb/rewrite-database.ts';
import { invalidateMarts } from '../warehouse/dirty-partitions.ts';
import { ensureKeyRuns } from '../warehouse/keys/upkeep.ts';
import { stateCopies } from '../warehouse/state-copies.ts';
import { adoptPublished, isAdopted, withPublished } from './adopt-published.ts';
import { noteReason } from './damage-note.ts';
import { assertLogsLanded, resetLogs } from './reset-logs.ts';
import { newestGoodSnapshot, publishedFolders, type PublishedFolder } from './published-folders.ts';
import { restoreFiles, troubledFiles } from './restore-files.ts';

/** Input of opening the warehouse. The caller holds the writer lock. */
export interface Opening {
  data: DataDirectory;
  settings: Pick<Settings, 'duckdb'>;
  logger: Logger;
  effects: Effects;
  /** Allows lost event files whose logs the landing folder lacks. */
  withoutMissing?: boolean;
  /** The command changes nothing: a state of an older version is refused. */
  isPreview?: boolean;
}

/**
 * Opens the state. Where it is damaged, missing or older than what is published, recovers it first: from the file
 * without its log, else the newest whole copy, else an empty one. Copies what only a published snapshot has; the next
 * ingest reads what landed since.
 */
export async function openWarehouse(opening: Opening): Promise<StateDatabase> {
  const { data, settings, effects } = opening;
  const damage = await reasonForRecovery(data);
  if (damage !== undefined) return recoverState(opening, damage);
  let state: StateDatabase;
  try {
    state = await openStateDatabase(data, settings, undefined, effects, { upgrade: opening.isPreview !== true });
  } catch (error) {
    if (!(error instanceof DamagedStateError)) throw error;
    return recoverState(opening, error.message);
  }
  if (state.copyBeforeUpgrade !== undefined)
    opening.logger.info(
      { copy: state.copyBeforeUpgrade },
      'the state of an older version is upgraded; the copy of before is kept until the next upgrade',
    );
  const published = await currentManifest(data);
  if (published === undefined || (await lastRunId(state.connection)) >= published.run_id) return state;
  await state.close();
  return recoverState(opening, `${data.stateFile} is older than the published snapshot ${published.snapshot_id}`);
}

async function reasonForRecovery(data: DataDirectory): Promise<string | undefined> {
  if (existsSync(data.damageNote)) return (await readFile(data.damageNote, 'utf8')).trim();
  if (existsSync(data.stateFile)) return undefined;
  const wasThere = (await stateCopies(data)).length > 0 || (await publishedFolders(data)).length > 0;
  return wasThere ? `${data.stateFile} is missing` : undefined;
}

/**
 * Moves the state to put-aside/ with the reason, and restores it. Where it is interrupted, the next opening begins
 * again.
 */
export async function recoverState(opening: Opening, reason: string): Promise<StateDatabase> {
  const { data, logger, effects } = opening;
  logger.warn(
    { reason },
    `${data.stateFile} is restored: it goes to put-aside/, and what is whole of it, else the newest good copy, takes its place`,
  );
  // Stays until recovery is complete: a restored copy alone must not pass for the state.
  await noteReason(data, reason, effects);
  const aside = await QuarantineFolder.make(data, reason, effects);
  await aside.moveIn(`${data.stateFile}.wal`);
  const snapshot = await newestGoodSnapshot(data, isAdopted);
  const state = await newestWhole(opening, snapshot, aside);
  try {
    await finishRecovery(opening, state, snapshot, aside);
  } catch (error) {
    await state.close();
    throw error;
  }
  await effects.files.remove(data.damageNote, 'note of damage: removed');
  return state;
}

/** Opens the file without its log where it has the published run, else the newest whole copy, else an empty state. */
async function newestWhole(
  opening: Opening,
  snapshot: PublishedFolder | undefined,
  aside: QuarantineFolder,
): Promise<StateDatabase> {
  const { data, settings, logger, effects } = opening;
  const open = () => openStateDatabase(data, settings, undefined, effects);
  await aside.linkIn(data.stateFile);
  if (existsSync(data.stateFile) && (await rewriteState(opening, data.stateFile))) {
    const state = await open();
    if ((await lastRunId(state.connection)) >= (snapshot?.manifest.run_id ?? 0)) return state;
    await state.close();
  }
  for (const copy of await stateCopies(data)) {
    if (await rewriteState(opening, copy.path)) {
      logger.warn({ copy: copy.path }, 'the state is restored from this copy');
      return open();
    }
    logger.warn({ copy: copy.path }, 'this copy of the state is damaged too');
  }
  await effects.files.remove(data.stateFile, 'damaged state: removed');
  return open();
}

/** Rewrites the state from the rows of a file. Returns false, with nothing changed, where that is damaged. */
async function rewriteState({ data, effects }: Opening, from: string): Promise<boolean> {
  const { files } = effects;
  const temporary = `${data.stateFile}.tmp`;
  for (const leftover of [temporary, `${temporary}.wal`]) await files.remove(leftover, 'state: leftover removed');
  try {
    await effects.perform('state: written again', () => rewriteDatabase(from, temporary));
  } catch (error) {
    if (isDamage(error as Error)) return false;
    throw error;
  }
  await files.syncFile(temporary, 'state: fsynced');
  await files.rename(temporary, data.stateFile, 'state: renamed');
  await files.syncDirectory(dirname(data.stateFile), 'state: folder synced');
  return true;
}

/** Makes the state, the published snapshot and the files on the disk agree. */
async function finishRecovery(
  { data, logger, effects, withoutMissing }: Opening,
  state: StateDatabase,
  snapshot: PublishedFolder | undefined,
  aside: QuarantineFolder,
): Promise<void> {
  const { connection } = state;
  const lost = await restoreFiles(data, await troubledFiles(data, await namedFiles(connection), false), aside, effects);
  // Without its event files the state is of no use: the next ingest reads all logs again.
  if (lost.some(({ table }) => table === 'event_files')) {
    if (withoutMissing !== true) await assertLogsLanded(connection, data);
    await resetLogs(state);
  }
  // An older state does not know the files of later runs; the next ingest reads their landing files again.
  for (const path of await unnamedFiles(connection, data)) await aside.moveIn(path);
  const finish = (adopt: boolean) =>
    state.transaction(async () => {
      await invalidateMarts(connection, lost);
      // The delivery store may know other postbacks under the numbers that this outbox gives next: as a new warehouse
      // it hands all of them over again.
      await deleteMetadata(connection, warehouseIdKey);
      // An earlier fingerprint must not come back with other content.
      await bumpRevision(connection, skippedRevisions);
      if (adopt) logger.warn(await adoptPublished(connection), 'copied into the state from the published snapshot');
      // A copy may name key runs that were merged since.
      const runId = await lastRunId(connection);
      for (const kind of eventKinds) await ensureKeyRuns({ connection, data, effects, logger }, kind, runId);
    }, 'recovery');
  if (snapshot === undefined || (await lastRunId(connection)) >= snapshot.manifest.run_id) await finish(false);
  else await withPublished(connection, snapshot, () => finish(true));
}

/** Revisions to skip: more than any state can have had since its last copy. */
const skippedRevisions = 1_000_000;
