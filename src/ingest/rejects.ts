import type { DuckDBConnection } from '@duckdb/node-api';
import { droppableFields, warningBit } from '../landing/log-parser.ts';
import type { LogSchema } from '../landing/log-fields.ts';
import { numberedNdjsonLines } from '../landing/records.ts';
import { quotedList, quotedPathList } from '../landing/sql-text.ts';
import { queryRows } from '../warehouse/dialect/rows.ts';
import { eventRelation } from '../warehouse/event-files.ts';
import { isLines, type LogBatch, type LogFile } from './log-batch.ts';
import { rejectsKept } from './ledger.ts';
import type { StagedEvents } from './stage-events.ts';

/** Writes a `rejects` row for each of a file's first rejected rows and gives the number of all of them by file. */
export async function recordRejects(connection: DuckDBConnection, batch: LogBatch, staged: StagedEvents): Promise<Map<number, number>> {
  const counts = new Map<number, number>();
  if (staged.rejected.length === 0) return counts;
  await connection.run(
    `CREATE OR REPLACE TEMP TABLE rejected_rows AS
     SELECT file_id, (reject->>'line')::BIGINT AS line, reject->>'reason' AS reason, reject->>'raw' AS raw
     FROM read_parquet(${quotedPathList(staged.rejected)}, hive_partitioning = false)`,
  );
  for (const { file_id, rejected } of await queryRows<{ file_id: number; rejected: number }>(
    connection, 'SELECT file_id, count(*) AS rejected FROM rejected_rows GROUP BY file_id',
  )) {
    const file = batch.files.find(({ fileId }) => fileId === file_id);
    if (file === undefined) continue;
    counts.set(file_id, rejected);
    // Equal lines are equally bad, so a line's text finds its numbers; no other line has to be parsed again.
    const numbered = isLines(file)
      ? `${numberedNdjsonLines(file.readablePath)} AS numbered JOIN (SELECT DISTINCT reason, raw FROM rejected_rows WHERE file_id = $1) USING (raw)`
      : 'rejected_rows WHERE file_id = $1';
    // A record of CSV that is no object is a row with too few or too many cells.
    const reason = file.format === 'csv' ? `CASE reason WHEN 'not_json_object' THEN 'wrong_cell_count' ELSE reason END` : 'reason';
    await connection.run(
      `INSERT INTO rejects SELECT $1, $2, line, ${reason}, raw FROM ${numbered} ORDER BY line LIMIT ${rejectsKept}`,
      [BigInt(file_id), file.path],
    );
  }
  return counts;
}

/** Rows read to find out what an unknown field is called; that there is one is known from every row. */
const rowsSearchedForNames = 10_000;

/** Writes `ingest_warnings` for the accepted events and gives the number of warnings by file. */
export async function recordWarnings(connection: DuckDBConnection, schema: LogSchema, batch: LogBatch, paths: readonly string[]): Promise<Map<number, number>> {
  const drops = droppableFields(schema).map((field, index) => ({ field: field.name, bit: warningBit.firstDropped << index }));
  const sums = drops.map(({ field, bit }) => `count(*) FILTER (warnings & ${bit} > 0) AS ${field}`).concat(`count(*) FILTER (warnings & ${warningBit.unknownField} > 0) AS unknown_field`);
  const counts = new Map<number, number>();
  if (paths.length === 0) return counts;
  const rows = await queryRows<Record<string, number>>(
    connection, `SELECT file_id, ${sums.join(', ')} FROM ${eventRelation(schema.kind, paths)} WHERE warnings > 0 GROUP BY file_id`,
  );
  for (const row of rows) {
    const file = batch.files.find(({ fileId }) => fileId === row['file_id']);
    if (file === undefined) continue;
    const warnings = drops
      .map(({ field }) => ({ warning: `bad_${field}`, field: field as string | null, rows: row[field] ?? 0 }))
      .filter((warning) => warning.rows > 0);
    if ((row['unknown_field'] ?? 0) > 0) {
      for (const field of await unknownFields(connection, schema, batch, file)) {
        warnings.push({ warning: 'unknown_field', field, rows: row['unknown_field'] ?? 0 });
      }
    }
    for (const { warning, field, rows: affected } of warnings) {
      await connection.run('INSERT INTO ingest_warnings VALUES ($1, $2, $3, $4)', [BigInt(file.fileId), warning, field, BigInt(affected)]);
    }
    // An unknown field counts once per file, a dropped value once per row.
    counts.set(file.fileId, warnings.reduce((sum, { warning, rows: affected }) => sum + (warning === 'unknown_field' ? 1 : affected), 0));
  }
  return counts;
}

async function unknownFields(connection: DuckDBConnection, schema: LogSchema, batch: LogBatch, file: LogFile): Promise<(string | null)[]> {
  const rows = isLines(file) ? numberedNdjsonLines(file.readablePath) : `(SELECT line, raw FROM ${batch.records} WHERE file_id = ${file.fileId})`;
  const names = await queryRows<{ name: string }>(
    connection,
    `SELECT DISTINCT name FROM (
       SELECT unnest(json_keys(raw)) AS name FROM (SELECT raw FROM ${rows} WHERE json_valid(raw) LIMIT ${rowsSearchedForNames}))
     WHERE name NOT IN (SELECT unnest(${quotedList(schema.fields.map(({ name }) => name))})) ORDER BY name`,
  );
  return names.length > 0 ? names.map(({ name }) => name) : [null];
}
