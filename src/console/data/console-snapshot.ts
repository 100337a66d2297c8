import { basename } from 'node:path';
import type { QueryRow } from '../../kit/duckdb/dialect/rows.ts';
import { queryRows } from '../../kit/duckdb/dialect/rows.ts';
import { openSnapshotDatabase } from '../../pipeline/analysis/snapshot-database.ts';
import type { OpenDuckDB } from '../../kit/duckdb/open.ts';
import type { Manifest } from '../../pipeline/snapshot/manifest.ts';
import { verifySnapshot } from '../../pipeline/snapshot/verify.ts';
import { modelQuery } from '../../pipeline/sql/model-query.ts';
import type { ModelRows } from '../../pipeline/sql/model-rows.ts';
import { identifier } from '../../kit/text/sql-text.ts';
import { keepInMemory } from './in-memory-tables.ts';
import { SerialQueue } from './serial-queue.ts';

/** A statement that takes longer is interrupted. Milliseconds. */
const queryMilliseconds = 1_000;
/** A statement behind so many others is refused with 503. */
const maxWaiting = 8;

/** A statement of `sql/console`, by the name of its file. */
export type ConsoleStatement = keyof ModelRows['console'];
export type ConsoleRow<Name extends ConsoleStatement> = ModelRows['console'][Name];

/** The column that rows are ordered by; the statement's own order decides between equal ones. */
export interface RowOrder {
  column: string;
  descending: boolean;
}

export interface QueryOptions {
  /** Values of the statement's `$names`: moments, days, texts and numbers as text. */
  parameters?: Readonly<Record<string, string>>;
  /** Default: the statement's own order. */
  order?: RowOrder | undefined;
  /** Default: all rows. */
  part?: { first: number; rows: number } | undefined;
}

/** Rows of a statement, with the query that returns them from this snapshot's file. */
export interface StatementResult<R> {
  rows: R[];
  sql: string;
  /** Number of all rows, beyond the part. */
  total: number;
  first: number;
}

/**
 * A published snapshot, verified against its manifest, with its database open read-only, so that no run removes it. One
 * query runs at a time, in one thread, to leave the processors to the publishers' API on the same machine.
 */
export class ConsoleSnapshot {
  readonly id: string;
  readonly manifest: Manifest;
  readonly #database: OpenDuckDB;
  readonly #queue = new SerialQueue(maxWaiting);
  readonly #retirement = new AbortController();
  #users = 0;

  private constructor(id: string, manifest: Manifest, database: OpenDuckDB) {
    this.id = id;
    this.manifest = manifest;
    this.#database = database;
  }

  /** Throws `DamagedSnapshotError`, or the error of the disk or of DuckDB. */
  static async open(folder: string): Promise<ConsoleSnapshot> {
    const manifest = await verifySnapshot(folder);
    const database = await openSnapshotDatabase(folder, {
      threads: '1',
      memory_limit: '128MiB',
    });
    try {
      await keepInMemory(database.connection);
    } catch (error) {
      database.close();
      throw error;
    }
    return new ConsoleSnapshot(basename(folder), manifest, database);
  }

  /** The as-of of its figures. */
  get asOf(): string {
    return this.manifest.as_of;
  }

  /** Aborted once the snapshot is retired; background work for it ends then. */
  get retired(): AbortSignal {
    return this.#retirement.signal;
  }

  /** Runs `sql/console/<statement>.sql`. Throws `TooBusyError` or `TooSlowError`. */
  async ask<Name extends ConsoleStatement>(statement: Name, options: QueryOptions = {}): Promise<StatementResult<ConsoleRow<Name>>> {
    return this.askSql<ConsoleRow<Name>>(modelQuery('console', statement, { as_of: this.asOf, ...options.parameters }), options);
  }

  /** Runs any query on the snapshot, such as one over some of its files. */
  async askSql<R = QueryRow>(query: string, { order, part }: Omit<QueryOptions, 'parameters'> = {}): Promise<StatementResult<R>> {
    const sql = arranged(query, order, part);
    const rows = await this.#queue.run(() => this.#rows<R & { of_rows?: number }>(sql));
    const first = part?.first ?? 0;
    return { rows, sql, first, total: part === undefined ? rows.length : (rows[0]?.of_rows ?? first) };
  }

  async #rows<R>(sql: string): Promise<R[]> {
    const { connection } = this.#database;
    let interrupted = false;
    const overdue = setTimeout(() => {
      interrupted = true;
      connection.interrupt();
    }, queryMilliseconds);
    try {
      return await queryRows<R>(connection, sql);
    } catch (error) {
      throw interrupted ? new TooSlowError() : error;
    } finally {
      clearTimeout(overdue);
    }
  }

  /** Keeps the snapshot open while `work` runs. */
  async use<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#users++;
    try {
      return await work();
    } finally {
      this.#users--;
      this.#closeWhenUnused();
    }
  }

  /** Closes the snapshot as soon as no `use` is left. */
  retire(): void {
    this.#retirement.abort();
    this.#closeWhenUnused();
  }

  #closeWhenUnused(): void {
    if (this.retired.aborted && this.#users === 0) this.#database.close();
  }
}

/** A statement took longer than a page may. */
export class TooSlowError extends Error {
  override readonly name = 'TooSlowError';

  constructor() {
    super(
      `this query takes longer than ${queryMilliseconds / 1000} s: choose a shorter time or fewer rows, or use \`offerline sql\``,
    );
  }
}

function arranged(query: string, order: QueryOptions['order'], part: QueryOptions['part']): string {
  if (order === undefined && part === undefined) return query;
  const counted = part === undefined ? '' : ', count(*) OVER () AS of_rows';
  // The statement's order is total, so that equal rows stay in one order.
  const ordered =
    order === undefined
      ? 'ORDER BY row_in_order'
      : `ORDER BY ${identifier(order.column)} ${order.descending ? 'DESC' : 'ASC'} NULLS LAST, row_in_order`;
  const limited = part === undefined ? '' : `\nLIMIT ${part.rows} OFFSET ${part.first}`;
  return `SELECT * EXCLUDE (row_in_order)${counted}
FROM (SELECT *, row_number() OVER () AS row_in_order FROM (
${query}
))
${ordered}${limited}`;
}
