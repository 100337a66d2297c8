import type { DuckDBConnection } from '@duckdb/node-api';
import { UsageError } from '../../kit/errors/errors.ts';
import { queryMessage } from './query-message.ts';

/**
 * Result of DuckDB's parser. FROM, WITH, VALUES, DESCRIBE, SUMMARIZE and SHOW count as SELECT; the rest gives nothing.
 */
interface Parsed {
  error_type?: string;
  statements?: object[];
}

/** EXPLAIN with options. They may have no comment, which the parser would skip and this would not. */
const explain = /^EXPLAIN(\s+ANALYZE|\s*\(\s*(?:ANALYZE|FORMAT)\b[\w\s,]*\))?\s([^]*)$/i;

/** Functions that change settings, write a log or a profile, or run a text that may call such functions. */
const refusedFunctions = new Set([
  'checkpoint',
  'force_checkpoint',
  'enable_logging',
  'disable_logging',
  'truncate_duckdb_logs',
  'write_log',
  'enable_profiling',
  'disable_profiling',
  'enable_peg_parser',
  'disable_peg_parser',
  'query',
  'query_table',
  'json_execute_serialized_sql',
]);

/** Words for a query that only reads. */
export const readingQuery = 'one SELECT, FROM, WITH, DESCRIBE, SUMMARIZE or SHOW';

/**
 * Returns the text to run of a query that only reads: one SELECT, or EXPLAIN of one, also with ANALYZE, which runs it.
 * Throws `UsageError` for anything else, and for SQL that DuckDB does not understand; `taken` is in its words. Decides
 * by DuckDB's parser, before anything is prepared: preparing an EXPORT makes its folder.
 */
export async function readingStatement(
  connection: DuckDBConnection,
  sql: string,
  taken = `${readingQuery}, or EXPLAIN of one`,
): Promise<string> {
  if (sql.includes('\0'))
    throw new UsageError(
      'the query has a NUL in it, behind which nothing would be read; write chr(0) where it is meant',
    );
  const [, how = '', explained] = explain.exec(withoutHead(sql)) ?? [];
  const { error_type, statements } = await parse(connection, explained ?? sql);
  if (error_type === 'parser') await assertParsed(connection, sql);
  if (statements === undefined)
    throw new UsageError(`a snapshot is only read: it takes ${taken}, not ${kindOf(sql, explained)}`);
  if (statements.length === 0)
    throw new UsageError('there is no query; write one, such as "SELECT count(*) FROM clicks"');
  if (statements.length > 1) throw new UsageError(`it takes one query at a time, not ${statements.length} statements`);
  // Composed again, so that nothing precedes the SELECT but what was parsed here.
  return explained === undefined ? sql : `EXPLAIN${how} ${explained}`;
}

/** The query without the blanks and comments before it. Block comments nest, as they do for DuckDB's parser. */
function withoutHead(sql: string): string {
  const blank = /\s+|--[^\n\r]*/y;
  const marks = /\/\*|\*\//g;
  let at = 0;
  for (;;) {
    blank.lastIndex = at;
    if (blank.test(sql)) {
      at = blank.lastIndex;
      continue;
    }
    if (!sql.startsWith('/*', at)) return sql.slice(at);
    marks.lastIndex = at;
    let depth = 0;
    do {
      const mark = marks.exec(sql);
      if (mark === null) return '';
      depth += mark[0] === '/*' ? 1 : -1;
    } while (depth > 0);
    at = marks.lastIndex;
  }
}

async function parse(connection: DuckDBConnection, sql: string): Promise<Parsed> {
  const result = await connection.runAndReadAll(
    'SELECT json_serialize_sql($1::VARCHAR, skip_null := true, skip_empty := true)',
    [sql],
  );
  try {
    return JSON.parse(result.getRows()[0]?.[0] as string, (key, value: unknown) => {
      if (key !== 'function_name' || !refusedFunctions.has(String(value).toLowerCase())) return value;
      throw new UsageError(`a snapshot is only read: ${String(value)} may write, so no query may call it`);
    }) as Parsed;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // DuckDB writes 1e400 as Infinity, which is no JSON.
    throw new UsageError("the query has a number beyond those of a DOUBLE; write 'infinity'::DOUBLE where it is meant");
  }
}

/** Throws `UsageError` with the place of a mistake, which `json_serialize_sql` does not give. */
async function assertParsed(connection: DuckDBConnection, sql: string): Promise<void> {
  try {
    await connection.extractStatements(sql);
  } catch (error) {
    throw new UsageError(queryMessage(error as Error), { cause: error });
  }
}

function kindOf(sql: string, explained: string | undefined): string {
  const word = /^\w*/.exec(withoutHead(explained ?? sql))?.[0].toUpperCase() ?? '';
  if (explained !== undefined) return `EXPLAIN of ${word}`;
  return /^(SELECT|FROM|WITH)$/.test(word) ? 'several statements, nor one that writes' : word;
}
