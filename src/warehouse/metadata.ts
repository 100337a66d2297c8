import type { DuckDBConnection } from '@duckdb/node-api';
import { quoted } from '../text/sql-text.ts';
import { queryRows } from '../duckdb/dialect/rows.ts';

/** Reads a fact that the warehouse keeps about itself. */
export async function readMetadata(connection: DuckDBConnection, fact: string): Promise<string | undefined> {
  const [row] = await queryRows<{ value: string }>(
    connection,
    `SELECT value FROM warehouse_facts WHERE fact = ${quoted(fact)}`,
  );
  return row?.value;
}

/** All facts at once, for those who need several. */
export async function readAllMetadata(connection: DuckDBConnection): Promise<Map<string, string>> {
  const rows = await queryRows<{ fact: string; value: string }>(connection, 'SELECT fact, value FROM warehouse_facts');
  return new Map(rows.map(({ fact, value }) => [fact, value]));
}

export async function writeMetadata(connection: DuckDBConnection, fact: string, value: string): Promise<void> {
  await connection.run(`INSERT OR REPLACE INTO warehouse_facts VALUES (${quoted(fact)}, ${quoted(value)})`);
}

/** How often the warehouse's content has changed: equal numbers mean that there is nothing new to compute or publish. */
export async function readRevision(connection: DuckDBConnection): Promise<number> {
  return revisionOf(await readMetadata(connection, revisionKey));
}

/** The same, of facts that were read already. */
export function revisionIn(facts: ReadonlyMap<string, string>): number {
  return revisionOf(facts.get(revisionKey));
}

const revisionKey = 'change_number';
const revisionOf = (value: string | undefined) => Number(value ?? 0);

/** To be called in every transaction that changes what a snapshot shows. */
export async function bumpRevision(connection: DuckDBConnection): Promise<void> {
  await writeMetadata(connection, revisionKey, String((await readRevision(connection)) + 1));
}
