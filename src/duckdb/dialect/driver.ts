import type { DuckDBConnection } from '@duckdb/node-api';
import type { Driver, TransactionSettings } from 'kysely';
import { WarehouseConnection } from './connection.ts';
import { beginTransaction, commitTransaction, rollbackTransaction } from './transaction.ts';

/** Hands Kysely the one connection it was given; closing that is its owner's work. */
export class DuckDBDriver implements Driver {
  readonly #connection: WarehouseConnection;

  constructor(connection: DuckDBConnection) {
    this.#connection = new WarehouseConnection(connection);
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<WarehouseConnection> {
    return this.#connection;
  }

  async beginTransaction(connection: WarehouseConnection, settings: TransactionSettings): Promise<void> {
    if (settings.isolationLevel !== undefined || settings.accessMode !== undefined) {
      throw new Error('DuckDB has one isolation level and access mode: begin the transaction without settings');
    }
    await beginTransaction(connection.duckdb);
  }

  async commitTransaction(connection: WarehouseConnection): Promise<void> {
    await commitTransaction(connection.duckdb);
  }

  async rollbackTransaction(connection: WarehouseConnection): Promise<void> {
    await rollbackTransaction(connection.duckdb);
  }

  async releaseConnection(): Promise<void> {}

  async destroy(): Promise<void> {}
}
