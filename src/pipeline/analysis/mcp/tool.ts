import type { DuckDBConnection } from '@duckdb/node-api';
import { z } from 'zod';
import type { DataDirectory } from '../../../kit/config/data-directory.ts';
import { queryRows, type QueryRow } from '../../../kit/duckdb/dialect/rows.ts';
import { modelQuery } from '../../sql/model-query.ts';
import type { ModelRows } from '../../sql/model-rows.ts';
import { answerQuery, type QueryTable } from '../answer-query.ts';
import type { KeptSnapshot } from '../kept-snapshots.ts';
import { withSnapshotDatabase } from '../snapshot-database.ts';

/** Bounds of the work of tools. */
export interface ToolLimits {
  /** Options of DuckDB in place of its own limits. */
  duckdb?: Readonly<Record<string, string>>;
  /** Answers an assistant's own query; by default in this process. */
  answer?: typeof answerQuery;
}

/** A statement of `sql/console`, by the name of its file. */
type Statement = keyof ModelRows['console'];

/** The snapshot that a tool answers from. */
export class AskedSnapshot {
  readonly data: DataDirectory;
  readonly kept: KeptSnapshot;
  /** Ends the work with `StoppedError`. */
  readonly stop: AbortSignal;
  readonly duckdb: NonNullable<ToolLimits['duckdb']>;
  readonly #answer: NonNullable<ToolLimits['answer']>;

  constructor(
    data: DataDirectory,
    kept: KeptSnapshot,
    stop: AbortSignal,
    { duckdb = {}, answer = answerQuery }: ToolLimits,
  ) {
    this.data = data;
    this.kept = kept;
    this.stop = stop;
    this.duckdb = duckdb;
    this.#answer = answer;
  }

  get asOf(): string {
    return this.kept.manifest.as_of;
  }

  /** Opens its database, in the sandbox of `offerline sql`. */
  open<Answer>(work: (connection: DuckDBConnection) => Promise<Answer>): Promise<Answer> {
    return withSnapshotDatabase(this.kept, work, { stop: this.stop, duckdb: this.duckdb });
  }

  /** Answers a query of the assistant's own. */
  query(sql: string, maxRows: number): Promise<QueryTable> {
    return this.#answer({ folder: this.kept.folder, sql, maxRows, duckdb: this.duckdb }, this.stop);
  }

  /** Runs `sql/console/<statement>.sql`. */
  rows<Name extends Statement>(
    connection: DuckDBConnection,
    statement: Name,
    parameters: Readonly<Record<string, string>> = {},
  ): Promise<ModelRows['console'][Name][]> {
    return this.ask(connection, modelQuery('console', statement, { as_of: this.asOf, ...parameters }));
  }

  ask<R = QueryRow>(connection: DuckDBConnection, sql: string): Promise<R[]> {
    return queryRows<R>(connection, sql);
  }
}

/** A tool that an assistant calls. It only reads. */
export interface Tool {
  name: string;
  title: string;
  /** What it answers, for the assistant. */
  description: string;
  input: z.ZodObject;
  /** Answers with a JSON document. Throws `OfferlineError` with the cure. */
  answer(input: Record<string, unknown>, asked: AskedSnapshot): Promise<object>;
}

/** Checks that a tool's answer takes what its input gives. */
export function defineTool<Input extends z.ZodObject>(
  tool: Omit<Tool, 'input' | 'answer'> & {
    input: Input;
    answer(input: z.output<Input>, asked: AskedSnapshot): Promise<object>;
  },
): Tool {
  return tool;
}

/** The parameter of each tool that says which snapshot it answers from. */
export const snapshotParameter = z
  .string()
  .max(200)
  .optional()
  .describe(
    'Kept snapshot: its id, the beginning of it, or a moment such as 2026-11-01T12:00:00Z, which means the newest as of then or before. Default: the current one.',
  );
