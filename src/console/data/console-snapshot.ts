import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { QueryRow } from '../../kit/duckdb/dialect/rows.ts';
import { queryRows } from '../../kit/duckdb/dialect/rows.ts';
import { openSnapshotDatabase } from '../../pipeline/analysis/snapshot-database.ts';
import type { OpenDuckDB } from '../../kit/duckdb/open.ts';
import type { Manifest } from '../../pipeline/snapshot/manifest.ts';
import { verifySnapshot } from '../../pipeline/snapshot/verify.ts';
import { modelQuery } from '../../pipeline/sql/model-query.ts';
import type { ModelRows } from '../../pipeline/sql/model-rows.ts';
import { identifier } from '../../kit/text/sql-text.ts';
import { keepInMemory } from './kept-rows.ts';
import { OneAtATime } from './one-at-a-time.ts';

/** A query of a page that takes longer is interrupted: it asks for too much. Milliseconds. */
const queryMilliseconds = 1_000;
/** Who would wait behind so many queries is told to come back. */
const maxWaiting = 8;

/** A statement of `sql/console`, by the name of its file. */
export type ConsoleStatement = keyof ModelRows['console'];
export type ConsoleRow<Name extends ConsoleStatement> = ModelRows['console'][Name];

/** What a question may add to its statement. */
export interface Asking {
  /** Values of the statement's `$names`: moments, days, texts and numbers as text. */
  parameters?: Readonly<Record<string, string>>;
  /** By which of its columns the rows are ordered; the statement's own order decides between equal ones. */
  order?: { column: string; descending: boolean } | undefined;
  /** Which part of the rows is wanted: all where nothing is said. */
  part?: { first: number; rows: number } | undefined;
}

/** Rows of a statement, and the query that gives them on this snapshot's file. */
export interface Answer<R> {
  rows: R[];
  sql: string;
  /** How many there are in all. */
  total: number;
  first: number;
}

/**
 * A published snapshot whose files were found as its manifest says, with its database open read-only: it is not removed
 * meanwhile. One query runs at a time, in one thread, so that publishers on the same machine notice nothing.
 */
export class ConsoleSnapshot {
  readonly id: string;
  readonly manifest: Manifest;
  readonly #database: OpenDuckDB;
  readonly #turns = new OneAtATime(maxWaiting);
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
      temp_directory: join(tmpdir(), `offerline-console-${process.pid}`),
    });
    try {
      await keepInMemory(database.connection);
    } catch (error) {
      database.close();
      throw error;
    }
    return new ConsoleSnapshot(basename(folder), manifest, database);
  }

  /** The moment that its figures are of. */
  get asOf(): string {
    return this.manifest.as_of;
  }

  /** Aborted once it is retired: what works for it in the background then ends. */
  get retired(): AbortSignal {
    return this.#retirement.signal;
  }

  /** Asks `sql/console/<statement>.sql`. Throws `TooBusyError` or `TooSlowError`. */
  async ask<Name extends ConsoleStatement>(statement: Name, asking: Asking = {}): Promise<Answer<ConsoleRow<Name>>> {
    return this.askSql<ConsoleRow<Name>>(modelQuery('console', statement, { as_of: this.asOf, ...asking.parameters }), asking);
  }

  /** The same for a query that is made up from elsewhere, such as a figure's own. */
  async askSql<R = QueryRow>(query: string, { order, part }: Omit<Asking, 'parameters'> = {}): Promise<Answer<R>> {
    const sql = arranged(query, order, part);
    const rows = await this.#turns.run(() => this.#rows<R & { of_rows?: number }>(sql));
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

  /** Does something with it, such as making a page by several questions; meanwhile it stays open. */
  async use<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#users++;
    try {
      return await work();
    } finally {
      this.#users--;
      this.#closeWhenUnused();
    }
  }

  /** Closes it once nobody uses it any more. */
  retire(): void {
    this.#retirement.abort();
    this.#closeWhenUnused();
  }

  #closeWhenUnused(): void {
    if (this.retired.aborted && this.#users === 0) this.#database.close();
  }
}

/** A query did not come to its end in time. */
export class TooSlowError extends Error {
  override readonly name = 'TooSlowError';

  constructor() {
    super(
      `this would take longer than ${queryMilliseconds / 1000} s: ask for a shorter time or fewer rows, or ask \`offerline sql\``,
    );
  }
}

function arranged(query: string, order: Asking['order'], part: Asking['part']): string {
  if (order === undefined && part === undefined) return query;
  const counted = part === undefined ? '' : ', count(*) OVER () AS of_rows';
  // Equal ones keep the statement's order, which is total.
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
