import { StatementType, type DuckDBConnection, type DuckDBPreparedStatement } from '@duckdb/node-api';
import { OfferlineError, UsageError } from '../errors/errors.ts';
import type { ColumnValue } from '../warehouse/dialect/rows.ts';
import { shownValue } from './shown-value.ts';

/** A query's answer, as it comes: some thousand rows at a time. */
export interface QueryAnswer {
  /** Names told apart (`a`, `a:1`) and DuckDB's types. */
  columns: { name: string; type: string }[];
  chunks: AsyncIterable<ColumnValue[][]>;
}

/**
 * Runs one query that only reads. Throws `UsageError` where it is something else, or none that DuckDB understands;
 * `OfferlineError` where it fails on the way.
 */
export async function askSnapshot(connection: DuckDBConnection, sql: string): Promise<QueryAnswer> {
  const statement = await prepared(connection, sql);
  await assertReads(connection, sql, statement);
  try {
    const result = await statement.stream();
    const types = result.columnTypes();
    const columns = result.deduplicatedColumnNames().map((name, index) => ({ name, type: String(types[index]) }));
    return { columns, chunks: rowsInChunks(result.yieldConvertedRows(shownValue)) };
  } catch (error) {
    throw failure(error as Error);
  }
}

async function* rowsInChunks(chunks: AsyncIterable<ColumnValue[][]>): AsyncIterable<ColumnValue[][]> {
  try {
    yield* chunks;
  } catch (error) {
    throw failure(error as Error);
  }
}

async function prepared(connection: DuckDBConnection, sql: string): Promise<DuckDBPreparedStatement> {
  // DuckDB answers nothing but comments with an error that says nothing.
  if (sql.replaceAll(/--[^\n]*|\/\*[^]*?\*\/|[\s;]/g, '') === '') throw new UsageError('there is no query; write one, such as "SELECT count(*) FROM clicks"');
  try {
    const statements = await connection.extractStatements(sql);
    if (statements.count !== 1) throw new UsageError(`it takes one query at a time, not ${statements.count} statements`);
    const statement = await statements.prepare(0);
    if (statement.parameterCount > 0) throw new UsageError('the query has parameters, which nothing gives a value; write the values into it');
    return statement;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(wordsOf(error as Error), { cause: error });
  }
}

/** `EXPLAIN ANALYZE` runs what it explains, so that has to be a query too. */
async function assertReads(connection: DuckDBConnection, sql: string, { statementType }: DuckDBPreparedStatement): Promise<void> {
  if (statementType === StatementType.SELECT) return;
  const explained = /^(?:\s|--[^\n]*\n|\/\*[^]*?\*\/)*EXPLAIN(?:\s+ANALYZE|\s*\([^)]*\))?\s([^]*)$/i.exec(sql)?.[1];
  if (statementType === StatementType.EXPLAIN && explained !== undefined && (await prepared(connection, explained)).statementType === StatementType.SELECT) return;
  throw new UsageError(`a snapshot is only read: it takes a query, not ${StatementType[statementType]}`);
}

function failure(error: Error): OfferlineError {
  return new OfferlineError(wordsOf(error), undefined, { cause: error });
}

/** DuckDB's words, which point at the place in the query. */
function wordsOf({ message }: Error): string {
  return message.replace(/^Failed to (extract statements|execute prepared statement|prepare)[^:]*: /, '');
}
