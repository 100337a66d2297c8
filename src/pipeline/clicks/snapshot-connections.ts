import type { DuckDBConnection } from '@duckdb/node-api';
import { queryRows } from '../../kit/duckdb/dialect/rows.ts';
import type { OpenDuckDB } from '../../kit/duckdb/open.ts';
import { ApiError } from '../../kit/http/errors.ts';
import { identifier } from '../../kit/text/sql-text.ts';
import { openAnalytics } from '../snapshot/movable-files.ts';
import { clickFilesOf, type ClickFiles } from './click-files.ts';

/** Queries occupy threads that the process also needs for files and compression: more of them wait their turn. */
const maxConcurrentQueries = 2;
/** A query that would have to wait behind so many is refused with `unavailable`. */
const maxWaitingQueries = 100;

export interface SnapshotDatabase {
  database: OpenDuckDB;
  files: ClickFiles;
  idle: DuckDBConnection[];
  waiting: ((connection: DuckDBConnection) => void)[];
}

/**
 * A few connections to a snapshot's `analytics.duckdb`, opened read-only at the first query and closed when the
 * snapshot is no longer served and its last query has ended.
 */
export class SnapshotConnections {
  readonly #folder: string;
  #isRetired = false;
  #database: Promise<SnapshotDatabase> | undefined;
  #underWay = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Opens the database before the first query: a snapshot that is held open is not removed. */
  async hold(): Promise<void> {
    await (this.#database ??= this.#open());
  }

  /** Returns what `query` finds, on a connection of its own. Throws `ApiError` where too many wait already. */
  async ask<Found>(
    query: (connection: DuckDBConnection, database: Pick<SnapshotDatabase, 'files'>) => Promise<Found>,
  ): Promise<Found> {
    this.#underWay++;
    try {
      const database = await (this.#database ??= this.#open());
      if (database.waiting.length >= maxWaitingQueries)
        throw new ApiError('unavailable', 'too many lookups at once; try again in some seconds');
      const connection =
        database.idle.pop() ?? (await new Promise<DuckDBConnection>((resolve) => database.waiting.push(resolve)));
      try {
        return await query(connection, database);
      } finally {
        const next = database.waiting.shift();
        if (next === undefined) database.idle.push(connection);
        else next(connection);
      }
    } finally {
      this.#underWay--;
      await this.#closeWhenDone();
    }
  }

  /** The snapshot is not served any more. */
  async retire(): Promise<void> {
    this.#isRetired = true;
    await this.#closeWhenDone();
  }

  async #closeWhenDone(): Promise<void> {
    if (!this.#isRetired || this.#underWay > 0 || this.#database === undefined) return;
    const closing = this.#database;
    this.#database = undefined;
    (await closing).database.close();
  }

  async #open(): Promise<SnapshotDatabase> {
    let database: OpenDuckDB | undefined;
    try {
      database = await openAnalytics(this.#folder, {
        // A query touches little; the pipeline on the same machine shall have the rest.
        threads: '1',
        memory_limit: '512MiB',
      });
      const files = await clickFilesOf(this.#folder);
      const idle = [database.connection];
      while (idle.length < maxConcurrentQueries) idle.push(await database.connect());
      for (const connection of idle) {
        // The Parquet files of a snapshot never change: what is known of them stays true.
        await connection.run('SET parquet_metadata_cache = true');
        await completeConversions(connection);
        await completeCommissions(connection);
        await completeTerms(connection);
      }
      return { database, files, idle, waiting: [] };
    } catch (error) {
      // The next query opens it anew.
      database?.close();
      this.#database = undefined;
      throw error;
    }
  }
}

/**
 * Adds the columns that snapshots of version 0.2.0 lack to what the connection sees of conversions: such a snapshot is
 * served until the first run after the upgrade. Its rows count as changed with its newest run.
 */
async function completeConversions(connection: DuckDBConnection): Promise<void> {
  const [older] = await queryRows<{ catalog: string }>(
    connection,
    `SELECT current_catalog() AS catalog FROM duckdb_columns() WHERE table_name = 'conversions'
     GROUP BY ALL HAVING count(*) FILTER (column_name = 'reason') = 0`,
  );
  if (older === undefined) return;
  await connection.run(
    `CREATE TEMP VIEW conversions AS
     SELECT *, NULL::VARCHAR AS reason, (SELECT max(as_of) FROM runs) AS changed_at FROM ${identifier(older.catalog)}.main.conversions`,
  );
}

/** Adds the table that snapshots of version 0.2.0 lack: no site had commissions for some offers. */
export async function completeCommissions(connection: DuckDBConnection): Promise<void> {
  const tables = await queryRows(connection, `FROM duckdb_tables() WHERE table_name = 'site_commissions'`);
  if (tables.length === 0)
    await connection.run(
      'CREATE TEMP TABLE site_commissions (site_key VARCHAR, offer_id INTEGER, source VARCHAR, commission DECIMAL(7, 6))',
    );
}

/** Adds rates of rewards where a snapshot is from before they were kept: none is known to have changed. */
async function completeTerms(connection: DuckDBConnection): Promise<void> {
  const rates = await queryRows(
    connection,
    `FROM duckdb_columns() WHERE table_name = 'site_terms' AND column_name = 'reward_rate'`,
  );
  if (rates.length === 0)
    await connection.run(
      'CREATE TEMP TABLE site_terms (site_key VARCHAR, valid_from TIMESTAMPTZ, reward_rate DECIMAL(15, 6))',
    );
}
