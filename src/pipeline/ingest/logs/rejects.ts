import type { DuckDBConnection } from '@duckdb/node-api';
import { charactersKept } from '../../../kit/text/kept-text.ts';
import { rawOfLineSql } from '../../landing/lines/mapped-line.ts';
import { numberedLines, numberedRows, parsedLog, rowsOfFile } from '../../landing/logs/log-parser.ts';
import type { LogSchema } from '../../landing/logs/log-fields.ts';
import { quotedPathList } from '../../../kit/text/sql-text.ts';
import { queryRows } from '../../../kit/duckdb/dialect/rows.ts';
import { makeEmptyTempTable, type TempTable } from '../../../kit/duckdb/temp-table.ts';
import { filesAtOnce } from '../engine/files-at-once.ts';
import type { LogBatch, LogBatchFile } from '../engine/log-batch.ts';
import { maxRejectsKept } from '../ledger/ledger.ts';
import { showRejectedRecords } from './shown-records.ts';
import type { StagedFiles } from '../engine/event-engine.ts';

/** Writes a `rejects` row for each of a file's first rejected rows and gives the number of all of them by file. */
export async function recordRejects(
  connection: DuckDBConnection,
  schema: LogSchema,
  batch: LogBatch,
  staged: Pick<StagedFiles, 'rejected'>,
): Promise<Map<number, number>> {
  const counts = new Map<number, number>();
  if (staged.rejected.length === 0) return counts;
  const parquet = `read_parquet(${quotedPathList(staged.rejected)}, hive_partitioning = false)`;
  const counted = await queryRows<RejectCount>(
    connection,
    `SELECT file_id, count(*) AS rejected, count(*) FILTER (reject->>'line' IS NULL) AS unnumbered FROM ${parquet} GROUP BY file_id`,
  );
  const numbered = await numberRejects(connection, batch, parquet, counted);
  for (const { file_id, rejected, unnumbered } of counted) {
    const file = batch.files.find(({ fileId }) => fileId === file_id);
    if (file === undefined) continue;
    counts.set(file_id, rejected);
    const known = `(SELECT line, reason, raw, raw_length FROM (SELECT ${rejectColumns} FROM ${parquet} WHERE file_id = ${file_id})
      WHERE line IS NOT NULL ORDER BY line LIMIT ${maxRejectsKept})`;
    const sought =
      unnumbered > maxSought
        ? firstRejects(schema, file)
        : `SELECT line, reason, raw, raw_length FROM ${numbered} WHERE file_id = ${file_id}`;
    await connection.run(
      `INSERT INTO rejects (file_id, path, line, reason, raw, raw_length)
       SELECT $1, $2, line, ${reasonOf(file)}, raw, raw_length
       FROM (${unnumbered === 0 ? known : `${sought} UNION ALL ${known}`})
       ORDER BY line LIMIT ${maxRejectsKept}`,
      [BigInt(file_id), file.before?.path ?? file.path],
    );
    await showRejectedRecords(connection, file);
  }
  return counts;
}

interface RejectCount {
  file_id: number;
  rejected: number;
  /** Rejects without a line number: some engines give it, and those of long lines have it. */
  unnumbered: number;
}

const rejectColumns = `(reject->>'line')::BIGINT AS line, reject->>'reason' AS reason, reject->>'raw' AS raw,
  (reject->>'raw_length')::BIGINT AS raw_length, reject->>'digest' AS digest`;

/** A record of CSV that is no object is a row with too few or too many cells, or one whose line has no end. */
function reasonOf({ format, unterminatedRow }: LogBatchFile): string {
  return format === 'csv'
    ? `CASE WHEN line = ${unterminatedRow ?? 0} THEN 'unterminated_row' WHEN reason = 'not_json_object' THEN 'wrong_cell_count' ELSE reason END`
    : 'reason';
}

/** Limit of the rejected rows that are searched for by their texts at once. */
const maxSought = 10_000;

/**
 * Makes the table `(file_id, line, reason, raw, raw_length)` of the first rejects without a number, of files with few.
 * Equal lines are equally bad, so a line's text finds its numbers; no other line has to be parsed again. Of long lines
 * the numbers are known. The rejects are made a list and rows again, of which DuckDB knows that they are few: otherwise
 * it keeps all lines in memory and looks the rejects up among them.
 */
async function numberRejects(
  connection: DuckDBConnection,
  batch: LogBatch,
  rejects: string,
  counted: readonly RejectCount[],
): Promise<TempTable<'numbered_rejects'>> {
  const numbered = await makeEmptyTempTable(
    connection,
    'numbered_rejects',
    'file_id BIGINT, line BIGINT, reason VARCHAR, raw VARCHAR, raw_length BIGINT',
  );
  const few = counted.filter(({ unnumbered }) => unnumbered > 0 && unnumbered <= maxSought);
  for (const group of filesAtOnce(few, ({ unnumbered }) => unnumbered, maxSought)) {
    const fileIds = group.map(({ file_id }) => file_id);
    const [rows] = numberedRows(batch.files.filter(({ fileId }) => fileIds.includes(fileId)));
    await connection.run(
      `INSERT INTO ${numbered}
       SELECT lines.file_id, lines.line, sought.reason, sought.raw, sought.raw_length
       FROM (SELECT file_id, line, ${rawOfLineSql('raw')} AS shown FROM ${rows}) AS lines
       JOIN (
         SELECT unnest(list(DISTINCT {file_id: file_id, reason: reason, raw: raw, raw_length: raw_length, digest: digest}), recursive := true)
         FROM (SELECT file_id, ${rejectColumns} FROM ${rejects} WHERE file_id IN (${fileIds.join(', ')})) WHERE line IS NULL
       ) AS sought
         ON sought.file_id = lines.file_id
           AND sought.raw = CASE WHEN strlen(lines.shown) <= ${charactersKept} THEN lines.shown ELSE left(lines.shown, ${charactersKept}) END
           AND CASE WHEN sought.digest IS NULL THEN sought.raw_length = length(lines.shown) ELSE sought.digest = sha256(lines.shown) END
       QUALIFY row_number() OVER (PARTITION BY lines.file_id ORDER BY lines.line) <= ${maxRejectsKept}`,
    );
  }
  return numbered;
}

/** Parses lines in their order until there are enough rejects: where there are many, the first ones come soon. */
function firstRejects(schema: LogSchema, file: LogBatchFile): string {
  const [lines = ''] = numberedLines(file);
  const parsed = parsedLog(schema, rowsOfFile(file.fileId, lines));
  return `SELECT line, reason, raw, raw_length
    FROM (SELECT ${rejectColumns} FROM (SELECT reject FROM (${parsed}) WHERE reject IS NOT NULL LIMIT ${maxRejectsKept}))`;
}
