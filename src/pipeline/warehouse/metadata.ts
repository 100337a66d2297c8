import type { DuckDBConnection } from '@duckdb/node-api';
import { kyselyOn } from './kysely.ts';

/** Reads what the warehouse keeps about itself under a key, in the table `warehouse_facts`. */
export async function readMetadata(connection: DuckDBConnection, key: string): Promise<string | undefined> {
  const row = await kyselyOn(connection)
    .selectFrom('warehouse_facts')
    .select('value')
    .where('fact', '=', key)
    .executeTakeFirst();
  return row?.value;
}

/** Reads all of it at once. */
export async function readAllMetadata(connection: DuckDBConnection): Promise<Map<string, string>> {
  const rows = await kyselyOn(connection).selectFrom('warehouse_facts').select(['fact', 'value']).execute();
  return new Map(rows.map(({ fact, value }) => [fact, value]));
}

export async function writeMetadata(connection: DuckDBConnection, key: string, value: string): Promise<void> {
  await kyselyOn(connection).insertInto('warehouse_facts').orReplace().values({ fact: key, value }).execute();
}

/**
 * Reads the number of changes of the warehouse's content: equal revisions mean that there is nothing new to compute or
 * publish.
 */
export async function readRevision(connection: DuckDBConnection): Promise<number> {
  return revisionOf(await readMetadata(connection, revisionKey));
}

/** Returns the revision in metadata that was read already. */
export function revisionIn(metadata: ReadonlyMap<string, string>): number {
  return revisionOf(metadata.get(revisionKey));
}

const revisionKey = 'revision';
const revisionOf = (value: string | undefined) => Number(value ?? 0);

/**
 * Raises the revision; called in every transaction that changes what a snapshot shows. `steps`: more than 1 leaps over
 * revisions that are not to come again.
 */
export async function bumpRevision(connection: DuckDBConnection, steps = 1): Promise<void> {
  await writeMetadata(connection, revisionKey, String((await readRevision(connection)) + steps));
}

/** Deletes a key; in the caller's transaction where that matters. */
export async function deleteMetadata(connection: DuckDBConnection, key: string): Promise<void> {
  await kyselyOn(connection).deleteFrom('warehouse_facts').where('fact', '=', key).execute();
}
