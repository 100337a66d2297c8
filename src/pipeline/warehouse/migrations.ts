import { readFile } from 'node:fs/promises';
import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import { DEFAULT_MIGRATION_TABLE, Migrator } from 'kysely/migration';
import type { Migration, MigrationProvider } from 'kysely/migration';
import { packageFile } from '../../kit/files/package-files.ts';
import { OfferlineError } from '../../kit/errors/errors.ts';
import { NewerDataError } from '../../kit/errors/newer-data.ts';
import { migrationFiles } from '../../kit/files/migration-files.ts';

export const migrationsFolder = packageFile('sql/migrations');

class SqlFiles implements MigrationProvider {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async getMigrations(): Promise<Record<string, Migration>> {
    const migrations = migrationFiles(this.#folder).map(async ({ name, path }): Promise<[string, Migration]> => {
      const text = await readFile(path, 'utf8');
      return [name, { up: async (db: Kysely<unknown>) => void (await sql.raw(text).execute(db)) }];
    });
    return Object.fromEntries(await Promise.all(migrations));
  }
}

/** Names of migrations, in their order. */
export interface Migrations {
  executed: readonly string[];
  pending: readonly string[];
}

/**
 * Returns which migrations of the folder the database has seen, and which not. `file` names the database for errors.
 * Throws `NewerDataError` where a newer program has written it: this one does not know its tables.
 */
export async function compareMigrations<T>(
  db: Kysely<T>,
  file: string,
  folder: string = migrationsFolder,
): Promise<Migrations> {
  const known = migrationFiles(folder).map(({ name }) => name);
  const executed = await executedMigrations(db);
  const unknown = executed.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new NewerDataError(file, unknown, known.at(-1) ?? 'none');
  return { executed, pending: known.filter((name) => !executed.includes(name)) };
}

/**
 * Brings the database to the newest schema; a migration that fails is rolled back whole. Nothing else may run
 * meanwhile.
 */
export async function migrateState<T>(db: Kysely<T>, folder: string = migrationsFolder): Promise<void> {
  const { error, results } = await new Migrator({ db, provider: new SqlFiles(folder) }).migrateToLatest();
  if (error === undefined) return;
  const failed = results?.find(({ status }) => status === 'Error')?.migrationName;
  const reason = error instanceof Error ? error.message : JSON.stringify(error);
  throw new OfferlineError(
    `The state cannot be upgraded: migration${failed === undefined ? '' : ` ${failed}`} failed and was rolled back; the offerline of before can go on with it. ${reason}`,
    undefined,
    { cause: error },
  );
}

async function executedMigrations<T>(db: Kysely<T>): Promise<string[]> {
  // The error shows that there is no table: reading the catalog takes several times as long.
  try {
    const { rows } = await sql<{ name: string }>`SELECT name FROM ${sql.table(DEFAULT_MIGRATION_TABLE)}`.execute(db);
    return rows.map(({ name }) => name);
  } catch (error) {
    if ((error as Error).message.startsWith(`Catalog Error: Table with name ${DEFAULT_MIGRATION_TABLE} does not exist`))
      return [];
    throw error;
  }
}
