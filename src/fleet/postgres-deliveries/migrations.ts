import { readFileSync } from 'node:fs';
import { packageFile } from '../../kit/files/package-files.ts';
import { NewerDataError } from '../../kit/errors/newer-data.ts';
import { migrationFiles } from '../../kit/files/migration-files.ts';
import { lockKey } from './lock-key.ts';
import { schema, type PostgresSession } from './session.ts';

const migrations = packageFile('sql/delivery-postgres');

/** Makes and migrates the tables as needed: the first session does it, while the others wait. */
export async function migrate(session: PostgresSession): Promise<void> {
  const files = migrationFiles(migrations);
  const newest = files.at(-1)?.number ?? 0;
  if ((await versionOf(session)) < newest) {
    await session.transaction(async () => {
      await session.query('SELECT pg_advisory_xact_lock($1)', [lockKey(schema, 'migrations')]);
      const version = await versionOf(session);
      if (version === 0)
        await session.run(
          `CREATE SCHEMA IF NOT EXISTS ${schema}; CREATE TABLE migrations (version INTEGER NOT NULL); INSERT INTO migrations VALUES (0)`,
        );
      for (const { number, path } of files.filter((each) => each.number > version)) {
        await session.run(readFileSync(path, 'utf8'));
        await session.query('UPDATE migrations SET version = $1', [number]);
      }
    });
  }
  const found = await versionOf(session);
  if (found > newest) throw new NewerDataError(`the store of deliveries at ${session.where}`, found, newest);
}

/** The number of the last migration that was applied; 0 where there is nothing yet. */
async function versionOf(session: PostgresSession): Promise<number> {
  // Not by to_regclass, which answers from a cache: what another session has made meanwhile it may not know.
  const found = await session.query(`SELECT FROM pg_tables WHERE schemaname = $1 AND tablename = 'migrations'`, [
    schema,
  ]);
  if (found.length === 0) return 0;
  const [row] = await session.query('SELECT version FROM migrations');
  return Number(row?.['version'] ?? 0);
}
