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
