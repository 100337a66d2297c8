import type { DuckDBConnection } from '@duckdb/node-api';
import type { LogSchema } from '../landing/log-fields.ts';
import { parsedLog } from '../landing/log-parser.ts';
import { numberedNdjsonLines } from '../landing/records.ts';
import { quoted, quotedPath } from '../landing/sql-text.ts';
import { queryRows } from '../warehouse/dialect/rows.ts';
import { eventRelation, withPlace } from '../warehouse/event-files.ts';
import { isLines, type LogBatch } from './log-batch.ts';
import type { StagedEvents } from './stage-events.ts';

/** Duplicates and conflicts (duplicates that say something else than the first one) by ledger number of their file. */
export type DuplicateCounts = Map<number, { duplicates: number; conflicts: number }>;

/**
 * Takes staged events out that the warehouse has already, or that an earlier row of this run brought: the first by
 * path, then line, stays. All history counts, whatever day a copy claims to be of.
 * Leaves `staged` with files of accepted events only.
 */
export async function removeDuplicates(
  connection: DuckDBConnection, schema: LogSchema, batch: LogBatch, staged: StagedEvents, history: readonly string[],
): Promise<DuplicateCounts> {
  if (staged.days.length === 0) return new Map();
  const stagedRows = eventRelation(schema.kind, staged.days.map(({ path }) => path), withPlace);
  if (!(await findRepeatedKeys(connection, schema, stagedRows, history))) return new Map();
  await rankCandidates(connection, schema, batch, stagedRows, history);
  const counts: DuplicateCounts = new Map();
  const rows = await queryRows<{ file_id: number; duplicates: number; conflicts: number }>(
    connection, 'SELECT file_id, count(*) AS duplicates, count(*) FILTER (conflict) AS conflicts FROM duplicate_events GROUP BY file_id',
  );
  for (const { file_id, ...count } of rows) counts.set(file_id, count);
  await rewriteWithoutDuplicates(connection, staged);
  return counts;
}

/** Keys that occur twice in this run, or in this run and in history. Reads only the key column. */
async function findRepeatedKeys(connection: DuckDBConnection, schema: LogSchema, stagedRows: string, history: readonly string[]): Promise<boolean> {
  const [repeated] = await queryRows<{ Count: number }>(
    connection,
    `CREATE OR REPLACE TEMP TABLE repeated_keys AS
     SELECT event_key FROM ${stagedRows} GROUP BY event_key HAVING count(*) > 1
     UNION
     SELECT event_key FROM ${eventRelation(schema.kind, history)} WHERE event_key IN (SELECT event_key FROM ${stagedRows})`,
  );
  return (repeated?.Count ?? 0) > 0;
}

/** Fills `duplicate_events (file_id, filename, file_row_number, conflict)`. Different ids with the same hash are told apart here. */
async function rankCandidates(connection: DuckDBConnection, schema: LogSchema, batch: LogBatch, stagedRows: string, history: readonly string[]): Promise<void> {
  const key = schema.key.join(', ');
  await connection.run(
    `CREATE OR REPLACE TEMP TABLE candidates AS
     SELECT ${key}, ${contentOf(schema)} AS content, file_id, filename, file_row_number, NULL::BIGINT AS line, position
     FROM ${stagedRows} JOIN ${batch.positions} USING (file_id) WHERE event_key IN (SELECT event_key FROM repeated_keys)`,
  );
  await connection.run(
    `CREATE OR REPLACE TEMP TABLE known_events AS
     SELECT ${key}, ${contentOf(schema)} AS content FROM ${eventRelation(schema.kind, history)} WHERE event_key IN (SELECT event_key FROM repeated_keys)`,
  );
  await numberContradictions(connection, schema, batch);
  await connection.run(
    `CREATE OR REPLACE TEMP TABLE duplicate_events AS
     WITH ranked AS (
       SELECT ${key}, content, file_id, filename, file_row_number,
         row_number() OVER by_arrival AS nth, first_value(content) OVER by_arrival AS first_content
       FROM candidates
       WINDOW by_arrival AS (PARTITION BY ${key} ORDER BY position, line NULLS LAST, filename, file_row_number)
     )
     SELECT file_id, filename, file_row_number, ranked.content IS DISTINCT FROM coalesce(known_events.content, first_content) AS conflict
     FROM ranked LEFT JOIN known_events USING (${key})
     WHERE nth > 1 OR known_events.content IS NOT NULL`,
  );
}

/** Where one file contradicts itself, the line decides; only then are its lines numbered. */
async function numberContradictions(connection: DuckDBConnection, schema: LogSchema, batch: LogBatch): Promise<void> {
  const key = schema.key.join(', ');
  const contradicting = await queryRows<{ file_id: number }>(
    connection, `SELECT DISTINCT file_id FROM (SELECT file_id, ${key} FROM candidates GROUP BY ALL HAVING count(DISTINCT content) > 1)`,
  );
  for (const { file_id } of contradicting) {
    const file = batch.files.find(({ fileId }) => fileId === file_id);
    if (file === undefined) continue;
    const rows = isLines(file)
      ? `(SELECT ${file_id} AS file_id, line, raw FROM ${numberedNdjsonLines(file.readablePath)})`
      : `(SELECT * FROM ${batch.records} WHERE file_id = ${file_id})`;
    await connection.run(
      `CREATE OR REPLACE TEMP TABLE numbered AS
       SELECT file_id, ${key}, ${contentOf(schema)} AS content, min(line) AS line FROM (${parsedLog(schema, rows)}) WHERE reject IS NULL GROUP BY ALL`,
    );
    const same = ['file_id', ...schema.key, 'content'].map((name) => `candidates.${name} IS NOT DISTINCT FROM numbered.${name}`).join(' AND ');
    await connection.run(`UPDATE candidates SET line = numbered.line FROM numbered WHERE ${same}`);
  }
}

/** All that an event says, as one comparable value. */
function contentOf({ fields }: LogSchema): string {
  return `struct_pack(${fields.map(({ name }) => `${name} := ${name}`).join(', ')})`;
}

async function rewriteWithoutDuplicates(connection: DuckDBConnection, staged: StagedEvents): Promise<void> {
  const affected = await queryRows<{ filename: string }>(connection, 'SELECT DISTINCT filename FROM duplicate_events');
  for (const { filename } of affected) {
    const rewritten = `${filename}.accepted`;
    const kept = `FROM read_parquet(${quotedPath(filename)}, file_row_number = true, hive_partitioning = false)
      WHERE file_row_number NOT IN (SELECT file_row_number FROM duplicate_events WHERE filename = ${quoted(filename)})`;
    await connection.run(`COPY (SELECT * EXCLUDE (file_row_number) ${kept}) TO ${quoted(rewritten)} (FORMAT parquet, COMPRESSION zstd)`);
    const [left] = await queryRows<{ rows: number }>(connection, `SELECT count(*) AS rows FROM read_parquet(${quotedPath(rewritten)})`);
    const index = staged.days.findIndex(({ path }) => path === filename);
    if (left?.rows === 0) staged.days.splice(index, 1);
    else (staged.days[index] as { path: string }).path = rewritten;
  }
}
