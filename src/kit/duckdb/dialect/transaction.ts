import type { DuckDBConnection } from '@duckdb/node-api';
import { AbortedTransactionError } from 'kysely';

export async function beginTransaction(connection: DuckDBConnection): Promise<void> {
  await connection.run('BEGIN TRANSACTION');
}

/**
 * Commits, and throws when nothing was committed. A COMMIT after a failed statement says nothing and commits
 * nothing; any other statement in that state fails, so one is run first. The transaction is over in any case.
 */
export async function commitTransaction(connection: DuckDBConnection): Promise<void> {
  try {
    await connection.run('SELECT 1; COMMIT');
  } catch (error) {
    await rollbackTransaction(connection);
    throw /Current transaction is aborted/.test((error as Error).message)
      ? new AbortedTransactionError({ cause: error })
      : error;
  }
}

/** Rolls back. Where the transaction is over already, as after a COMMIT that failed, there is nothing to do. */
export async function rollbackTransaction(connection: DuckDBConnection): Promise<void> {
  try {
    await connection.run('ROLLBACK');
  } catch (error) {
    if (!/no transaction is active/.test((error as Error).message)) throw error;
  }
}

/**
 * Runs the work between BEGIN and COMMIT; rolls back and rethrows when it or `commit` throws. Transactions do not nest.
 */
export async function inTransaction<T>(
  connection: DuckDBConnection,
  work: () => Promise<T>,
  commit = commitTransaction,
): Promise<T> {
  await beginTransaction(connection);
  try {
    const result = await work();
    await commit(connection);
    return result;
  } catch (error) {
    await rollbackTransaction(connection);
    throw error;
  }
}
