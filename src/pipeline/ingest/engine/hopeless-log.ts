import { stat } from 'node:fs/promises';
import type { DuckDBConnection } from '@duckdb/node-api';
import { queryRows } from '../../../kit/duckdb/dialect/rows.ts';
import { QuarantineError, type FileLines } from '../../landing/landing-file.ts';
import type { LogSchema } from '../../landing/logs/log-fields.ts';
import { parsedLog, rowsInOrder } from '../../landing/logs/log-parser.ts';

/** A file with so many rows, all rejected, is no log of this kind: a few kilobytes may unpack to twenty million. */
const maxRejects = 1_000_000;
/** One of the first rows of nearly every log fits. */
const firstRows = 2_000;
/** A row and its end. */
const minRowBytes = 2;

/** Throws `QuarantineError` where the first million rows of a log, and one more, are all rejected. */
export async function assertSomeFit(
  connection: DuckDBConnection,
  schema: LogSchema,
  file: FileLines & { fileId: number },
): Promise<void> {
  // Long lines are in files of their own, and one of them may fit.
  if (file.longLines.length > 0) return;
  if ((await stat(file.readablePath)).size < maxRejects * minRowBytes) return;
  const parsed = parsedLog(schema, rowsInOrder(file, file.fileId));
  for (const rows of [firstRows, maxRejects + 1]) {
    const [tried] = await queryRows<{ rejected: number; fitting: number; reason: string }>(
      connection,
      `SELECT count(reject) AS rejected, count(*) - count(reject) AS fitting, mode(reject->>'reason') AS reason
       FROM (SELECT reject FROM (${parsed}) LIMIT ${rows})`,
    );
    if (tried === undefined || tried.fitting > 0 || tried.rejected < rows) return;
    if (tried.rejected > maxRejects)
      throw new QuarantineError(
        'no_row_fits',
        `its first ${tried.rejected} rows are all rejected, most of them as ${tried.reason}: land it where it belongs, or with the fields that landing/${schema.kind} has`,
      );
  }
}
