import { stat } from 'node:fs/promises';
import type { DuckDBConnection } from '@duckdb/node-api';
import { queryRows } from '../../../kit/duckdb/dialect/rows.ts';
import type { FileLines } from '../../landing/landing-file.ts';
import type { LogSchema } from '../../landing/logs/log-fields.ts';
import { isRow, parsedLog, rowsInOrder } from '../../landing/logs/log-parser.ts';
import { filesAtOnce } from './files-at-once.ts';

/** A file with so many rows, all rejected, is no log of this kind: a few kilobytes may unpack to twenty million. */
const maxRejects = 1_000_000;
/** One of the first rows of nearly every log fits. */
const firstRows = 2_000;
/** A row and its end. */
const minRowBytes = 2;

type LogFile = FileLines & { fileId: number };

/** Returns the logs of which the first million rows, and one more, are all rejected. */
export async function hopelessLogs<File extends LogFile>(
  connection: DuckDBConnection,
  schema: LogSchema,
  files: readonly File[],
): Promise<{ file: File; reason: string; detail: string }[]> {
  const large: File[] = [];
  // Long lines are in files of their own, and one of them may fit.
  for (const file of files)
    if (file.longLines.length === 0 && (await stat(file.readablePath)).size >= maxRejects * minRowBytes)
      large.push(file);
  const hopeless: { file: File; reason: string; detail: string }[] = [];
  for (const group of filesAtOnce(large))
    for (const { file } of await allRejected(connection, schema, group, firstRows))
      for (const { rejected, reason } of await allRejected(connection, schema, [file], maxRejects + 1))
        hopeless.push({
          file,
          reason: 'no_row_fits',
          detail: `its first ${rejected} rows are all rejected, most of them as ${reason}: land it where it belongs, or with the fields that landing/${schema.kind} has`,
        });
  return hopeless;
}

/** Returns those of the files that have so many rows at least, of which the first ones are all rejected. */
async function allRejected<File extends LogFile>(
  connection: DuckDBConnection,
  schema: LogSchema,
  files: readonly File[],
  rows: number,
): Promise<{ file: File; rejected: number; reason: string }[]> {
  const firstOfEach = files.map((file) => `(FROM ${rowsInOrder(file, file.fileId)} WHERE ${isRow} LIMIT ${rows})`);
  const tried = await queryRows<{ file_id: number; rejected: number; reason: string }>(
    connection,
    `SELECT file_id, count(*) AS rejected, mode(reject->>'reason') AS reason
     FROM (${parsedLog(schema, `(${firstOfEach.join(' UNION ALL ')})`)})
     GROUP BY file_id HAVING count(reject) = ${rows}`,
  );
  return tried.flatMap(({ file_id, ...said }) => {
    const file = files.find(({ fileId }) => fileId === file_id);
    return file === undefined ? [] : [{ file, ...said }];
  });
}
