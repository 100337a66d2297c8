import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makePrivateFolder } from '../files/effects.ts';

/** Processes write for some milliseconds at a time; one waits up to this long for another. */
const busyTimeoutMilliseconds = 10_000;

/**
 * Opens a database that several processes use, made with its folder where there is none. A commit is on the disk when
 * it returns, so that it survives a loss of power.
 */
export function openSqlite(file: string): DatabaseSync {
  makePrivateFolder(dirname(file));
  const database = new DatabaseSync(file, { timeout: busyTimeoutMilliseconds });
  try {
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Commits all that the work writes, or nothing where it throws. `BEGIN` alone is for several reads of one state. */
export function sqliteTransaction<Result>(
  database: DatabaseSync,
  work: () => Result,
  begin: 'BEGIN' | 'BEGIN IMMEDIATE' = 'BEGIN IMMEDIATE',
): Result {
  database.exec(begin);
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

/** SQLITE_CORRUPT and SQLITE_NOTADB. */
const damageCodes = [11, 26];

/** True where SQLite found the file damaged, or another file in its place. */
export function isSqliteDamage(error: unknown): boolean {
  // The upper bits hold details of the code.
  return damageCodes.includes(((error as { errcode?: number }).errcode ?? 0) & 0xff);
}

/** SQLITE_READONLY, SQLITE_FULL and SQLITE_CANTOPEN; below, SQLITE_IOERR_SHMOPEN, _SHMSIZE and _SHMMAP. */
const unwritableCodes = [8, 13, 14];
const sharedMemoryCodes = [4618, 4874, 5386];

/**
 * True where SQLite could not write beside the file, as it has to in order to read it: on a full or read-only disk, or
 * without the right to. The file itself may be whole.
 */
export function isSqliteUnwritable(error: unknown): boolean {
  const { errcode = 0 } = Object(error) as { errcode?: number };
  return unwritableCodes.includes(errcode & 0xff) || sharedMemoryCodes.includes(errcode);
}
