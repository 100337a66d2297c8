import { readFileSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { OfferlineError } from '../errors/errors.ts';
import { NewerDataError } from '../errors/newer-data.ts';
import { machineFailure } from '../errors/machine-failure.ts';
import { migrationFiles, type MigrationFile } from '../files/migration-files.ts';
import { isSqliteDamage, sqliteTransaction } from './open-sqlite.ts';

/**
 * Applies the migrations of a folder that the database does not have yet, each in a transaction of its own; SQLite's
 * `user_version` is the number of the last one. Several processes may do so at once. Throws `OfferlineError` where one
 * fails, `NewerDataError` where a newer program has written the file.
 */
export function migrateSqlite(database: DatabaseSync, file: string, folder: string): void {
  const migrations = migrationFiles(folder);
  const newest = migrations.at(-1)?.number ?? 0;
  for (const migration of migrations)
    if (migration.number > sqliteVersion(database)) applyMigration(database, file, migration);
  const found = sqliteVersion(database);
  if (found > newest) throw new NewerDataError(file, found, newest);
}

function applyMigration(database: DatabaseSync, file: string, { number, name, path }: MigrationFile): void {
  const text = readFileSync(path, 'utf8');
  try {
    sqliteTransaction(database, () => {
      // Another process may have applied it meanwhile.
      if (sqliteVersion(database) < number) database.exec(`${text}; PRAGMA user_version = ${number}`);
    });
  } catch (error) {
    if (isSqliteDamage(error)) throw error;
    throw (
      machineFailure(error) ??
      new OfferlineError(
        `${file} cannot be migrated: ${name}.sql failed and changed nothing: ${(error as Error).message}`,
        undefined,
        { cause: error },
      )
    );
  }
}

/** The number of the last migration that was applied; 0 where the file is new. */
export function sqliteVersion(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()?.['user_version']);
}
