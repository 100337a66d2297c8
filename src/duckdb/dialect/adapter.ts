import { DialectAdapterBase } from 'kysely';

export class DuckDBAdapter extends DialectAdapterBase {
  /** There is one connection, so Kysely queues its queries. */
  override get supportsMultipleConnections(): boolean {
    return false;
  }

  /** Lets the Migrator roll a failed migration back. */
  override get supportsTransactionalDdl(): boolean {
    return true;
  }

  override get supportsReturning(): boolean {
    return true;
  }

  // The warehouse's own lock keeps other processes out, and within this one there is one connection.
  override async acquireMigrationLock(): Promise<void> {}
  override async releaseMigrationLock(): Promise<void> {}
}
