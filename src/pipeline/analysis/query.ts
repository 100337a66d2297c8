import { StatementType, type DuckDBConnection, type DuckDBPreparedStatement } from '@duckdb/node-api';
import { OfferlineError, UsageError } from '../../kit/errors/errors.ts';
import type { ColumnValue } from '../../kit/duckdb/dialect/rows.ts';
import { queryMessage } from './query-message.ts';
import { readingStatement } from './reading-statement.ts';
import { shownValue } from './shown-value.ts';

const reading: readonly StatementType[] = [StatementType.SELECT, StatementType.EXPLAIN];

/** A query's answer, streamed in chunks of some thousand rows. */
export interface QueryAnswer {
  /** Unique names (`a`, `a:1`) and DuckDB's types. */
  columns: { name: string; type: string }[];
  chunks: AsyncIterable<ColumnValue[][]>;
}

/**
 * Runs one query that only reads. Throws `UsageError` for anything else and for SQL that DuckDB does not understand,
 * `OfferlineError` where the query fails.
 */
export async function askSnapshot(connection: DuckDBConnection, sql: string): Promise<QueryAnswer> {
  const statement = await prepared(connection, sql);
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
  try {
    const statement = await connection.prepare(await readingStatement(connection, sql));
    // Makes sure, should the two parsers ever differ.
    if (!reading.includes(statement.statementType))
      throw new UsageError(`a snapshot is only read, which ${StatementType[statement.statementType]} does not`);
    if (statement.parameterCount > 0)
      throw new UsageError('the query has parameters, which nothing gives a value; write the values into it');
    return statement;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(queryMessage(error as Error), { cause: error });
  }
}

function failure(error: Error): OfferlineError {
  return new OfferlineError(queryMessage(error), undefined, { cause: error });
}
