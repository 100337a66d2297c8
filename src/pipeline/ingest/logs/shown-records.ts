import type { DuckDBConnection } from '@duckdb/node-api';
import { stat } from 'node:fs/promises';
import { queryRows } from '../../../kit/duckdb/dialect/rows.ts';
import { runWithRows } from '../../../kit/duckdb/insert-rows.ts';
import { modifiedNsOf } from '../../../kit/files/file-version.ts';
import type { RecordSink } from '../../../kit/intake/reading/record-sink.ts';
import { keptText, type KeptText } from '../../../kit/text/kept-text.ts';
import { readRecords } from '../../landing/lines/to-ndjson.ts';
import type { LogBatchFile } from '../engine/log-batch.ts';

/**
 * Has a file's rows in `rejects` show the records as they lay there, where its lines have only what the mapping made of
 * them. Where the file has changed since it was read, or gone, they stay as the mapping made them.
 */
export async function showRejectedRecords(connection: DuckDBConnection, file: LogBatchFile): Promise<void> {
  const { absolutePath, firstRow, mapped, fileId } = file;
  if (mapped?.recordsBy === undefined || !(await isAsRead(file))) return;
  const rejects = await queryRows<{ line: number }>(connection, `SELECT line FROM rejects WHERE file_id = ${fileId}`);
  const sink = new SomeRecords(new Set(rejects.map(({ line }) => line - firstRow)));
  await readRecords(absolutePath, mapped.recordsBy, sink);
  await runWithRows(
    connection,
    { line: 'BIGINT', raw: 'VARCHAR', raw_length: 'BIGINT' },
    sink.kept.map(({ index, ...text }) => ({ line: index + firstRow, ...text })),
    `UPDATE rejects SET raw = rows.raw, raw_length = rows.raw_length FROM rows
     WHERE rejects.file_id = $file AND rejects.line = rows.line`,
    { file: fileId },
  );
}

async function isAsRead({ absolutePath, bytes, modifiedNs }: LogBatchFile): Promise<boolean> {
  const now = await stat(absolutePath, { bigint: true }).catch(() => undefined);
  return now !== undefined && Number(now.size) === bytes && modifiedNsOf(now) === modifiedNs;
}

/** Keeps the first characters of some records. */
class SomeRecords implements RecordSink {
  readonly kept: (KeptText & { index: number })[] = [];
  lines = 0;
  longest = 0;
  openLine = 0;
  readonly #wanted: ReadonlySet<number>;
  #parts: Buffer[] = [];

  constructor(wanted: ReadonlySet<number>) {
    this.#wanted = wanted;
  }

  byte(byte: number): void {
    this.bytes(Buffer.of(byte));
  }

  bytes(source: Buffer, from = 0, to = source.length): void {
    if (this.#wanted.has(this.lines)) this.#parts.push(Buffer.from(source.subarray(from, to)));
    this.openLine += to - from;
  }

  endLine(): void {
    if (this.#wanted.has(this.lines))
      this.kept.push({ index: this.lines, ...keptText(Buffer.concat(this.#parts).toString('utf8')) });
    this.longest = Math.max(this.longest, this.openLine);
    this.#parts = [];
    this.openLine = 0;
    this.lines++;
  }
}
