import type { DuckDBConnection } from '@duckdb/node-api';
import { quoted } from '../text/sql-text.ts';
import { queryRows } from '../duckdb/dialect/rows.ts';

/** Reads what the warehouse keeps about itself under a key, in the table `warehouse_facts`. */
export async function readMetadata(connection: DuckDBConnection, key: string): Promise<string | undefined> {
  const [row] = await queryRows<{ value: string }>(
    connection,
    `SELECT value FROM warehouse_facts WHERE fact = ${quoted(key)}`,
  );
  return row?.value;
}

/** All of it at once, for those who need several. */
export async function readAllMetadata(connection: DuckDBConnection): Promise<Map<string, string>> {
  const rows = await queryRows<{ fact: string; value: string }>(connection, 'SELECT fact, value FROM warehouse_facts');
  return new Map(rows.map(({ fact, value }) => [fact, value]));
}

export async function writeMetadata(connection: DuckDBConnection, key: string, value: string): Promise<void> {
  await connection.run(`INSERT OR REPLACE INTO warehouse_facts VALUES (${quoted(key)}, ${quoted(value)})`);
}

/** How often the warehouse's content has changed: equal revisions mean that there is nothing new to compute or publish. */
export async function readRevision(connection: DuckDBConnection): Promise<number> {
  return revisionOf(await readMetadata(connection, revisionKey));
}

/** The same, of metadata that was read already. */
export function revisionIn(metadata: ReadonlyMap<string, string>): number {
  return revisionOf(metadata.get(revisionKey));
}

const revisionKey = 'change_number';
const revisionOf = (value: string | undefined) => Number(value ?? 0);

/** To be called in every transaction that changes what a snapshot shows. `steps`: more than 1 leaps over revisions that are not to come again. */
export async function bumpRevision(connection: DuckDBConnection, steps = 1): Promise<void> {
  await writeMetadata(connection, revisionKey, String((await readRevision(connection)) + steps));
}

/** To be called in a transaction where it matters. */
export async function deleteMetadata(connection: DuckDBConnection, key: string): Promise<void> {
  await connection.run('DELETE FROM warehouse_facts WHERE fact = $1', [key]);
}
