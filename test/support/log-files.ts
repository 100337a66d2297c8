import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { gzipSync } from 'node:zlib';
import { csvLine } from '../../src/kit/text/csv.ts';
import { ParquetWriter } from '../../src/demo/generate/landing/parquet-writer.ts';

/** One record of a log or catalog, in the words of the landing formats. Absent fields are left out. */
export type LandingRow = Record<string, unknown>;

/** Endings of the formats in which a log may arrive. */
export const logFormats = ['ndjson', 'ndjson.gz', 'csv', 'json', 'parquet'] as const;
export type LogFormat = (typeof logFormats)[number];

const logColumns = {
  clicks: [
    'click_id',
    'offer_id',
    'source',
    'external_id',
    'site_key',
    'user_id',
    'clicked_at',
    'country',
    'device',
    'ip',
    'user_agent',
    'sub1',
    'sub2',
  ],
  conversions: ['conversion_id', 'click_id', 'kind', 'occurred_at', 'event_id', 'payout', 'reason'],
};

/** Writes a log file of `format` at `path`, whose ending the format adds. Returns the whole path. */
export async function writeLogFile(
  path: string,
  kind: keyof typeof logColumns,
  format: LogFormat,
  rows: readonly LandingRow[],
): Promise<string> {
  const file = `${path}.${format}`;
  await mkdir(dirname(file), { recursive: true });
  if (format === 'parquet') await writeParquet(file, kind, rows);
  else await writeFile(file, textOf(kind, format, rows));
  return file;
}

function textOf(
  kind: keyof typeof logColumns,
  format: Exclude<LogFormat, 'parquet'>,
  rows: readonly LandingRow[],
): string | Uint8Array {
  if (format === 'json') return JSON.stringify(rows);
  if (format === 'csv')
    return `${logColumns[kind].join(',')}\n${rows.map((row) => csvLine(logColumns[kind], row)).join('')}`;
  return format === 'ndjson.gz' ? gzipSync(lines(rows)) : lines(rows);
}

async function writeParquet(file: string, kind: keyof typeof logColumns, rows: readonly LandingRow[]): Promise<void> {
  const time = kind === 'clicks' ? 'clicked_at' : 'occurred_at';
  // Times as TIMESTAMPTZ, which says that they are UTC; everything else as text.
  const columns = Object.fromEntries(logColumns[kind].map((name) => [name, name === time ? 'TIMESTAMPTZ' : 'VARCHAR']));
  const text = `${file}.tmp`;
  await writeFile(text, lines(rows));
  const writer = new ParquetWriter();
  try {
    await writer.convert(text, file, columns);
  } finally {
    writer.close();
    await rm(text);
  }
}

function lines(rows: readonly LandingRow[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}
