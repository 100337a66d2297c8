import { createReadStream, createWriteStream } from 'node:fs';
import { appendFile, mkdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { csvLine } from '../../../kit/text/csv.ts';
import type { ParquetColumns, ParquetWriter } from './parquet-writer.ts';

export type LogFormat = 'ndjson' | 'ndjson.gz' | 'csv' | 'parquet';

/**
 * A log file in the making. Rows gather in memory until `flush` appends them to a part file, which `close` packs or
 * converts; between flushes nothing is open, so there may be as many of these as there are days.
 */
export class GeneratedLog {
  readonly #path: string;
  readonly #partPath: string;
  readonly #format: LogFormat;
  readonly #columns: ParquetColumns;
  readonly #columnNames: string[];
  #text = '';
  #begun = false;

  constructor(pathWithoutEnding: string, format: LogFormat, columns: ParquetColumns) {
    this.#path = `${pathWithoutEnding}.${format}`;
    this.#partPath = join(dirname(this.#path), `.${basename(this.#path)}.part`);
    this.#format = format;
    this.#columns = columns;
    this.#columnNames = Object.keys(columns);
    if (format === 'csv') this.#text = `${this.#columnNames.join(',')}\n`;
  }

  add(record: object): void {
    this.#text += this.#format === 'csv' ? csvLine(this.#columnNames, record) : `${JSON.stringify(record)}\n`;
  }

  /** Writes a line as it is, for rows that no record can be; for NDJSON only. */
  addLine(line: string): void {
    this.#text += `${line}\n`;
  }

  async flush(): Promise<void> {
    if (this.#text === '') return;
    const text = this.#text;
    this.#text = '';
    if (!this.#begun) await mkdir(dirname(this.#path), { recursive: true });
    this.#begun = true;
    await appendFile(this.#partPath, text);
  }

  async close(parquet: ParquetWriter): Promise<void> {
    await this.flush();
    if (this.#format === 'ndjson.gz') {
      await pipeline(createReadStream(this.#partPath), createGzip(), createWriteStream(this.#path));
    } else if (this.#format === 'parquet') {
      await parquet.convert(this.#partPath, this.#path, this.#columns);
    } else {
      await rename(this.#partPath, this.#path);
    }
    await rm(this.#partPath, { force: true });
  }
}

/**
 * Counts of what was written of a kind of log. `rows = accepted + duplicates + rejected`, as in the ledger of ingested
 * files.
 */
export class LogCount {
  files = 0;
  /** Files that cannot be read whole; their rows count nowhere. */
  broken = 0;
  rows = 0;
  accepted = 0;
  duplicates = 0;
  rejected = 0;

  count(fate: 'accepted' | 'duplicates' | 'rejected'): void {
    this.rows++;
    this[fate]++;
  }
}
