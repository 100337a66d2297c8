import { existsSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { packageFile } from '../kit/files/package-files.ts';
import type { DataDirectory } from '../kit/config/data-directory.ts';
import { migrateSqlite } from '../kit/sqlite/migrate-sqlite.ts';
import { openSqlite } from '../kit/sqlite/open-sqlite.ts';

const migrations = packageFile('sql/pulls');

/** Opens the file that the pull ledger, emitted conversions and copied objects share, made where there is none. */
export function openPullDatabase({ pullLedgerFile: file }: Pick<DataDirectory, 'pullLedgerFile'>): DatabaseSync {
  const database = openSqlite(file);
  try {
    migrateSqlite(database, file, migrations);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** False where nothing has ever been pulled. */
export function hasPullDatabase({ pullLedgerFile }: DataDirectory): boolean {
  return existsSync(pullLedgerFile);
}
