import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import type { FileEffects } from '../../kit/files/effects.ts';
import { findDatabaseDamage } from '../../kit/duckdb/check-database.ts';
import { DamagedStateError, isDamage } from './database.ts';
import { runNumberText } from '../../kit/text/run-number.ts';

/** A copy of the state as it was closed after the run that published a snapshot. */
export interface StateCopy {
  path: string;
  /** The run that published: the copy knows all that this snapshot shows. */
  runId: number;
}

/** Number of copies kept: one may turn out to hold the damage already. */
const copiesKept = 3;

/** Up to this size a copy is made with every snapshot: it takes some hundredths of a second. */
const smallStateBytes = 128 * 1024 * 1024;
/**
 * A larger state is copied, and any copy read whole, once the last one is that old; what came after a copy is found in
 * the landing folder again.
 */
const agedMilliseconds = 3_600_000;

/** Whether the state is so large that it is not copied with every snapshot. */
export async function isLargeState({ stateFile }: DataDirectory): Promise<boolean> {
  return (await stat(stateFile)).size > smallStateBytes;
}

function wantedFile(data: DataDirectory): string {
  return join(data.stateCopies, 'wanted');
}

/**
 * Has the end of this run make a copy, whatever there is: the state is about to name no more files that older copies
 * name.
 */
export async function requestBackup(data: DataDirectory, files: FileEffects): Promise<void> {
  await files.makeDirectory(data.stateCopies);
  await files.writeFile(wantedFile(data), '', 'state copy: wanted');
}

/** Newest first. */
export async function stateCopies(data: DataDirectory): Promise<StateCopy[]> {
  const names = await readdir(data.stateCopies).catch(() => []);
  return names
    .flatMap((name) => {
      const run = /^state-(\d+)\.duckdb$/.exec(name)?.[1];
      return run === undefined ? [] : [{ path: join(data.stateCopies, name), runId: Number(run) }];
    })
    .toSorted((a, b) => b.runId - a.runId);
}

/**
 * Copies the state after a run that published, once per snapshot, and where `requestBackup` asked for it. Only while
 * the writer lock is held and the state is closed: reading the open file would lose the lock on it. Returns the copy,
 * or undefined where none was due. Now and then it reads the copy whole, which shows damage that no run came upon.
 * Throws `DamagedStateError` then, with no copy kept.
 */
export async function copyState(
  data: DataDirectory,
  publishedRunId: number,
  files: FileEffects,
): Promise<StateCopy | undefined> {
  const copies = await stateCopies(data);
  const [newest] = copies;
  const wanted = existsSync(wantedFile(data));
  if (newest?.runId === publishedRunId && !wanted) return undefined;
  const { mtimeMs } = await stat(data.stateFile);
  const isAged = newest === undefined || mtimeMs - (await stat(newest.path)).mtimeMs > agedMilliseconds;
  if (!isAged && !wanted && (await isLargeState(data))) return undefined;
  const path = join(data.stateCopies, `state-${runNumberText(publishedRunId)}.duckdb`);
  await files.makeDirectory(data.stateCopies);
  await files.copyFile(data.stateFile, `${path}.tmp`, 'state copy: written');
  await files.syncFile(`${path}.tmp`, 'state copy: fsynced');
  const damage = isAged ? await findDatabaseDamage(`${path}.tmp`) : undefined;
  if (damage !== undefined) {
    await files.remove(`${path}.tmp`, 'damaged state copy: removed');
    if (!isDamage(damage)) throw damage;
    throw new DamagedStateError(`${data.stateFile} is damaged: ${damage.message}`, undefined, { cause: damage });
  }
  await files.rename(`${path}.tmp`, path, 'state copy: renamed');
  await files.syncDirectory(dirname(path), 'state copy: folder synced');
  if (wanted) await files.remove(wantedFile(data), 'state copy: wanted no more');
  for (const old of copies.slice(copiesKept - 1)) await files.remove(old.path, 'old state copy: removed');
  return { path, runId: publishedRunId };
}
