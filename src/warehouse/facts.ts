import type { DuckDBConnection } from '@duckdb/node-api';
import { queryRows } from './dialect/rows.ts';

/** Reads a fact that the warehouse keeps about itself. */
export async function readFact(connection: DuckDBConnection, fact: string): Promise<string | undefined> {
  const [row] = await queryRows<{ value: string }>(connection, 'SELECT value FROM warehouse_facts WHERE fact = $1', [fact]);
  return row?.value;
}

export async function writeFact(connection: DuckDBConnection, fact: string, value: string): Promise<void> {
  await connection.run('INSERT OR REPLACE INTO warehouse_facts VALUES ($1, $2)', [fact, value]);
}

/** How often the warehouse's content has changed: equal numbers mean that there is nothing new to compute or publish. */
export async function readChangeNumber(connection: DuckDBConnection): Promise<number> {
  return Number((await readFact(connection, 'change_number')) ?? 0);
}

/** To be called in every transaction that changes what a snapshot shows. */
export async function countChange(connection: DuckDBConnection): Promise<void> {
  await writeFact(connection, 'change_number', String((await readChangeNumber(connection)) + 1));
}
