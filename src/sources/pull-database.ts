import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { packageFile } from '../kit/files/package-files.ts';
import type { DataDirectory } from '../kit/config/data-directory.ts';
import { OfferlineError } from '../kit/errors/errors.ts';
import { migrateSqlite } from '../kit/sqlite/migrate-sqlite.ts';
import { isSqliteDamage, openSqlite } from '../kit/sqlite/open-sqlite.ts';

const migrations = packageFile('sql/pulls');

/** The file is there and is not what was written. */
export class DamagedPullsError extends OfferlineError {
  readonly problem: string;
  readonly cure = 'it is moved to put-aside/, and each source is pulled anew; what has landed stays and counts once';

  constructor(file: string, cause: unknown) {
    const problem = `is damaged: ${(cause as Error).message}`;
    super(
      `${file} ${problem}, so nothing is pulled; run \`offerline doctor --repair\`, which puts it aside`,
      undefined,
      { cause },
    );
    this.problem = problem;
  }
}

/**
 * Opens the file that the pull ledger, emitted conversions, copied objects and budgets share, made where there is none.
 * Throws `DamagedPullsError`.
 */
export function openPullDatabase({ pullLedgerFile: file }: Pick<DataDirectory, 'pullLedgerFile'>): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    database = openSqlite(file);
    migrateSqlite(database, file, migrations);
    return database;
  } catch (error) {
    database?.close();
    throw isSqliteDamage(error) ? new DamagedPullsError(file, error) : error;
  }
}

/** Opens a database of the same tables that ends with the process, for what writes nothing. */
export function openPullMemory(): DatabaseSync {
  const database = new DatabaseSync(':memory:');
  migrateSqlite(database, ':memory:', migrations);
  return database;
}

/** False where nothing has ever been pulled. */
export function hasPullDatabase({ pullLedgerFile }: DataDirectory): boolean {
  return existsSync(pullLedgerFile);
}
