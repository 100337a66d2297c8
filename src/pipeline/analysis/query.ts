import { StatementType, type DuckDBConnection, type DuckDBPreparedStatement } from '@duckdb/node-api';
import { OfferlineError, UsageError } from '../../kit/errors/errors.ts';
import type { ColumnValue } from '../../kit/duckdb/dialect/rows.ts';
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
    throw new UsageError(messageOf(error as Error), { cause: error });
  }
}

function failure(error: Error): OfferlineError {
  return new OfferlineError(messageOf(error), undefined, { cause: error });
}

/** Returns DuckDB's message with its pointer into the query; for common misspellings with a plainer text. */
function messageOf({ message }: Error): string {
  const words = message.replace(/^Failed to (extract statements|execute prepared statement|prepare)[^:]*: /, '');
  const written = /\n\nLINE \d+: [^]*$/.exec(words)?.[0] ?? '';
  const said = words.slice(0, words.length - written.length);
  const pointer = written + placeOf(written);
  for (const { pattern, plain } of misspelled) {
    const match = pattern.exec(said);
    if (match === null) continue;
    const near = [...said.slice(match[0].length).matchAll(/"[^"]*"/g)].map(([name]) => name);
    return plain(match[1] ?? '', near.length === 0 ? '' : `; nearest are ${near.join(', ')}`, match[2] ?? '') + pointer;
  }
  return said + pointer;
}

/** Says in words what the caret below a line of a query points to: in a log of one line the two are not aligned. */
function placeOf(pointer: string): string {
  const [, line, text = '', caret = ''] = /^\n\n(LINE \d+): (.*)\n( *)\^/.exec(pointer) ?? [];
  if (line === undefined) return '';
  const word = /^(?:\w+|\S)/.exec(text.slice(caret.length - `${line}: `.length))?.[0];
  return word === undefined ? '' : `\n(at ${word} in ${line.toLowerCase()})`;
}

/** Plain texts for misspelled names. `near`: similar names. */
const misspelled: { pattern: RegExp; plain: (name: string, near: string, second: string) => string }[] = [
  {
    pattern: /^Binder Error: Referenced column ("[^"]*") not found in FROM clause!/,
    plain: (name, near) => `there is no column ${name}${near}; \`DESCRIBE <table>\` names the columns of a table`,
  },
  {
    pattern: /^Binder Error: Table ("[^"]*") does not have a column named ("[^"]*")/,
    plain: (table, near, name) => `there is no column ${name} in ${table}${near}`,
  },
  {
    pattern: /^Binder Error: Referenced table ("[^"]*") not found!/,
    plain: (name, near) => `there is no table ${name} in what FROM names${near}`,
  },
  {
    pattern: /^Catalog Error: Table with name (\S+) does not exist!/,
    plain: (name, near) => `there is no table "${name}"${near}; \`SHOW TABLES\` names all`,
  },
  {
    pattern: /^Catalog Error: (?:Scalar|Aggregate|Table|Macro)? ?Function with name (\S+) does not exist!/,
    plain: (name, near) => `there is no function "${name}"${near}`,
  },
];
