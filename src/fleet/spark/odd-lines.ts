import type { DuckDBConnection } from '@duckdb/node-api';
import { join } from 'node:path';
import type { LogSchema } from '../../pipeline/landing/logs/log-fields.ts';
import { stagedLog } from '../../pipeline/landing/logs/log-parser.ts';
import { queryRows } from '../../kit/duckdb/dialect/rows.ts';
import { makeTempTable, type TempTable } from '../../kit/duckdb/temp-table.ts';
import { literalPath, quoted } from '../../kit/text/sql-text.ts';
import type { LogBatch } from '../../pipeline/ingest/engine/log-batch.ts';
import type { StagingFolders } from './spark-staging.ts';

export interface OddLines {
  /** Lines that hold anything, and those among them that Spark left to this machine. */
  lines: number;
  odd: number;
  /** Files of rejected rows, with their lines. */
  rejected: string[];
}

/** Columns that every engine's event has and that no landing file gives. */
const madeColumns = 'event_key, file_id, warnings, day_number';

/**
 * Parses the lines that Spark left, by the one parser, and writes the events among them for Spark to go on with, and
 * the rejects. Every line has its number: Spark names the part of a file that it read and counts within it.
 */
export async function parseOddLines(
  connection: DuckDBConnection,
  schema: LogSchema,
  batch: LogBatch,
  folders: StagingFolders,
): Promise<OddLines> {
  const parsed = `read_parquet(${quoted(join(literalPath(folders.parsed), '*.parquet'))}, hive_partitioning = false)`;
  const isOdd = `raw IS NOT NULL AND trim(raw) <> ''`;
  const [counted] = await queryRows<{ lines: number; odd: number }>(
    connection,
    `SELECT count(*) FILTER (raw IS NULL OR ${isOdd}) AS lines, count(*) FILTER (${isOdd}) AS odd FROM ${parsed}`,
  );
  const long = batch.files.reduce(
    (sum, { longLines }) => sum + longLines.reduce((of, { rows }) => of + rows.length, 0),
    0,
  );
  const blocks = await makeBlocks(connection, batch, parsed, isOdd);
  const [, ...longRelations] = batch.rows;
  const relations = [
    `(SELECT odd.file_id, lines_before + 1 + id - first_id AS line, raw
      FROM (SELECT position, file_id, block, id, raw FROM ${parsed} WHERE ${isOdd}) AS odd JOIN ${blocks} USING (position, block))`,
    ...longRelations,
  ];
  const read = relations.map((rows) => stagedLog(schema, rows, ['line']));
  const rows = await makeTempTable(connection, 'odd_rows', read[0] as string);
  for (const further of read.slice(1)) await connection.run(`INSERT INTO ${rows} ${further}`);
  await writeEvents(connection, schema, folders, rows, blocks);
  const rejected = join(folders.odd, '..', 'rejected.parquet');
  await connection.run(
    `COPY (SELECT file_id, reject FROM ${rows} WHERE reject IS NOT NULL) TO ${quoted(rejected)} (FORMAT parquet)`,
  );
  await connection.run(`DROP TABLE ${rows}`);
  return { lines: (counted?.lines ?? 0) + long, odd: (counted?.odd ?? 0) + long, rejected: [rejected] };
}

type Blocks = TempTable<'spark_blocks'>;

/**
 * `(position, file_id, block, first_id, lines_before)` of the parts that Spark read a file in, for files of which a
 * line is odd. Long lines lie apart and have blank ones in their places.
 */
function makeBlocks(connection: DuckDBConnection, { files }: LogBatch, parsed: string, isOdd: string): Promise<Blocks> {
  const withLong = files.flatMap(({ longLines }, position) => (longLines.length > 0 ? [position] : []));
  return makeTempTable(
    connection,
    'spark_blocks',
    `SELECT position, file_id, block, first_id,
       [${files.map(({ firstRow }) => firstRow - 1).join(', ')}][position + 1]
         + coalesce(sum(lines) OVER (PARTITION BY position ORDER BY block ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)::BIGINT AS lines_before
     FROM (
       SELECT position, file_id, block, min(id) AS first_id, count(*) AS lines FROM ${parsed}
       WHERE position IN (SELECT position FROM ${parsed} WHERE ${isOdd}) OR position IN (${[-1, ...withLong].join(', ')})
       GROUP BY ALL)`,
  );
}

/** Writes the good ones with the place that Spark would have given their lines. */
async function writeEvents(
  connection: DuckDBConnection,
  { fields }: LogSchema,
  { odd }: StagingFolders,
  rows: TempTable<'odd_rows'>,
  blocks: Blocks,
): Promise<void> {
  const columns = [...fields.map(({ name }) => name), ...madeColumns.split(', ')].map((name) => `event.${name}`);
  await connection.run(
    `COPY (
       SELECT ${columns.join(', ')}, position, block, first_id + line - lines_before - 1 AS id
       FROM (SELECT * FROM ${rows} WHERE reject IS NULL) AS event
       ASOF JOIN ${blocks} AS part ON event.file_id = part.file_id AND event.line > part.lines_before
     ) TO ${quoted(join(odd, '0.parquet'))} (FORMAT parquet)`,
  );
}
