import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import type { Settings } from '../../kit/config/settings.ts';
import type { Effects } from '../../kit/files/effects.ts';
import { warehouseIdKey } from '../deliveries/sync-deliveries.ts';
import { currentManifest } from '../snapshot/snapshot-store.ts';
import type { Logger } from '../../kit/logging/log.ts';
import { lastRunId } from '../runs/run-ledger.ts';
import { DamagedStateError, openStateDatabase, tellsDamage, type StateDatabase } from '../warehouse/database.ts';
import { bumpRevision, deleteMetadata } from '../warehouse/metadata.ts';
import { namedFiles, unnamedFiles } from '../warehouse/named-files.ts';
import { AsideFolder } from '../../kit/files/put-aside.ts';
import { rewriteDatabase } from '../../kit/duckdb/rewrite-database.ts';
import { invalidateMarts } from '../warehouse/stale-partitions.ts';
import { stateCopies } from '../warehouse/state-copies.ts';
import { adoptPublished, isAdopted, withPublished } from './adopt-published.ts';
import { noteReason } from './damage-note.ts';
import { assertLogsLanded, resetLogs } from './reset-logs.ts';
import { newestGoodSnapshot, publishedFolders, type PublishedFolder } from './published-folders.ts';
import { renewEventKeys } from './renew-event-keys.ts';
import { restoreFiles, troubledFiles } from './restore-files.ts';

/** What opening the warehouse needs. The caller holds the writer lock. */
export interface Opening {
  data: DataDirectory;
  settings: Pick<Settings, 'duckdb'>;
  logger: Logger;
  effects: Effects;
  /** Goes on where event files are lost and the landing folder lacks logs that they were made of. */
  withoutMissing?: boolean;
}

/**
 * Opens the state, and where it is damaged, gone or older than what is published, puts it aside and brings it back
 * first: the file without its log, else the newest copy that is whole, else an empty one. What a published snapshot
 * knows beyond that is taken over; what else landed since, the next ingest reads again.
 */
export async function openWarehouse(opening: Opening): Promise<StateDatabase> {
  const state = await openOrRecover(opening);
  try {
    await renewEventKeys(opening, state);
  } catch (error) {
    await state.close();
    throw error;
  }
  return state;
}

async function openOrRecover(opening: Opening): Promise<StateDatabase> {
  const { data, settings, effects } = opening;
  const damage = await reasonForRecovery(data);
  if (damage !== undefined) return recoverState(opening, damage);
  let state: StateDatabase;
  try {
    state = await openStateDatabase(data, settings, undefined, effects);
  } catch (error) {
    if (!(error instanceof DamagedStateError)) throw error;
    return recoverState(opening, error.message);
  }
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
 * Puts the state aside with the reason and brings it back. May be stopped anywhere: the next opening finds the note of
 * it and begins again.
 */
export async function recoverState(opening: Opening, reason: string): Promise<StateDatabase> {
  const { data, logger, effects } = opening;
  logger.warn({ reason }, 'state.duckdb is damaged: moved to put-aside/, restoring the newest good copy');
  // Until all is in line again: a copy that is in place already must not be taken for a state that was always there.
  await noteReason(data, reason, effects);
  const aside = await AsideFolder.make(data, reason, effects);
  await aside.take(`${data.stateFile}.wal`);
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

/**
 * The state as its file has it without the log, where that knows what is published; else the newest copy that is whole;
 * else an empty one.
 */
async function newestWhole(
  opening: Opening,
  snapshot: PublishedFolder | undefined,
  aside: AsideFolder,
): Promise<StateDatabase> {
  const { data, settings, logger, effects } = opening;
  const open = () => openStateDatabase(data, settings, undefined, effects);
  await aside.keep(data.stateFile);
  if (existsSync(data.stateFile) && (await rewritten(opening, data.stateFile))) {
    const state = await open();
    if ((await lastRunId(state.connection)) >= (snapshot?.manifest.run_id ?? 0)) return state;
    await state.close();
  }
  for (const copy of await stateCopies(data)) {
    if (await rewritten(opening, copy.path)) {
      logger.warn({ copy: copy.path }, 'the state comes from this copy');
      return open();
    }
    logger.warn({ copy: copy.path }, 'this copy of the state is damaged too');
  }
  await effects.files.remove(data.stateFile, 'damaged state: removed');
  return open();
}

/**
 * Makes the state again from the rows of another file, or of its own. False, with nothing changed, where that is
 * damaged.
 */
async function rewritten({ data, effects }: Opening, from: string): Promise<boolean> {
  const { files } = effects;
  const temporary = `${data.stateFile}.tmp`;
  for (const leftover of [temporary, `${temporary}.wal`]) await files.remove(leftover, 'state: leftover removed');
  try {
    await effects.perform('state: written again', () => rewriteDatabase(from, temporary));
  } catch (error) {
    if (tellsDamage(error as Error)) return false;
    throw error;
  }
  await files.syncFile(temporary, 'state: fsynced');
  await files.rename(temporary, data.stateFile, 'state: renamed');
  await files.syncDirectory(dirname(data.stateFile), 'state: folder synced');
  return true;
}

/** Brings the state, the published snapshot and the files on the disk in line. */
async function finishRecovery(
  { data, logger, effects, withoutMissing }: Opening,
  state: StateDatabase,
  snapshot: PublishedFolder | undefined,
  aside: AsideFolder,
): Promise<void> {
  const { connection } = state;
  const lost = await restoreFiles(data, await troubledFiles(data, await namedFiles(connection), false), aside, effects);
  // Without them the state is of no use: what came of the logs is made again.
  if (lost.some(({ table }) => table === 'event_files')) {
    if (withoutMissing !== true) await assertLogsLanded(connection, data);
    await resetLogs(state);
  }
  // A state that is not the last one does not name the files of later runs; what landed for them is read again.
  for (const path of await unnamedFiles(connection, data)) await aside.take(path);
  const finish = (adopt: boolean) =>
    state.transaction(async () => {
      await invalidateMarts(connection, lost);
      // Numbers of the outbox begin where this state ends, and delivery may know them as others: as a new warehouse it
      // is told all of them again.
      await deleteMetadata(connection, warehouseIdKey);
      // No fingerprint of before must be met again by other content.
      await bumpRevision(connection, changesAhead);
      if (adopt) logger.warn(await adoptPublished(connection), 'taken over from the published snapshot');
    }, 'recovery');
  if (snapshot === undefined || (await lastRunId(connection)) >= snapshot.manifest.run_id) await finish(false);
  else await withPublished(connection, snapshot, () => finish(true));
}

/** More than the changes that any state can have seen since its last copy. */
const changesAhead = 1_000_000;
