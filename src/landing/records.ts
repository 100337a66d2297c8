import type { DuckDBConnection } from '@duckdb/node-api';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { longestLineBytes, QuarantineError, type CheckedFile, type LandingRecord } from './landing-file.ts';
import { identifier, quoted, quotedPath, quotedPathList } from './sql-text.ts';

/** Twice the longest line, or DuckDB takes sixteen times as much for every file that it has open. */
const readBuffer = `max_line_size = ${longestLineBytes}, buffer_size = ${2 * longestLineBytes}`;

/**
 * SQL for the lines of NDJSON files: `path`, `raw`. Blank lines are NULL.
 * Columns are cut at a control character that a checked file does not hold, so a line stays whole.
 */
export function ndjsonLines(paths: readonly string[]): string {
  return `read_csv(${quotedPathList(paths)}, columns = {raw: 'VARCHAR'}, delim = '\u0001\u0002', quote = '', escape = '',
    new_line = '\\n', strict_mode = false, auto_detect = false, header = false, hive_partitioning = false, ${readBuffer}, filename = 'path')`;
}

/** The same with physical line numbers, from 1. Numbering forces file order and costs as much as the reading itself. */
export function numberedNdjsonLines(path: string): string {
  return `(SELECT row_number() OVER () AS line, raw FROM ${ndjsonLines([path])})`;
}

/**
 * Adds one file's rows to a table of `(file_id, line, raw)`, `raw` being the record as JSON text.
 * `required` are the columns without which a file with a header is not what its folder says.
 * Throws `QuarantineError` where the file cannot be read whole; the table may then hold rows of it, which the caller drops.
 */
export async function loadRecords(connection: DuckDBConnection, file: CheckedFile, fileId: number, table: string, required: readonly string[]): Promise<void> {
  if (file.bytes === 0) return;
  // A checked JSON document lies unpacked as one record a line, so its line number is the element's number.
  const load = { ndjson: loadNdjson, json: loadNdjson, csv: loadCsv, parquet: loadParquet }[file.format];
  await load(connection, file, fileId, table, required);
}

/** All rows of a file that is small enough for memory, as a catalog is. Throws `QuarantineError`. */
export async function readRecords(connection: DuckDBConnection, file: CheckedFile, required: readonly string[]): Promise<LandingRecord[]> {
  await connection.run('CREATE OR REPLACE TEMP TABLE catalog_records (file_id BIGINT, line BIGINT, raw VARCHAR)');
  await loadRecords(connection, file, 0, 'catalog_records', required);
  const reader = await connection.runAndReadAll('SELECT line, raw FROM catalog_records ORDER BY line');
  await connection.run('DROP TABLE catalog_records');
  return reader.getRows().map(([line, raw]) => ({ line: Number(line), raw: String(raw) }));
}

async function loadNdjson(connection: DuckDBConnection, file: CheckedFile, fileId: number, table: string): Promise<void> {
  await connection.run(
    `INSERT INTO ${table} SELECT ${fileId}, line, raw FROM ${numberedNdjsonLines(file.readablePath)} WHERE trim(raw) <> ''`,
  );
}

async function loadCsv(connection: DuckDBConnection, file: CheckedFile, fileId: number, table: string, required: readonly string[]): Promise<void> {
  const header = await firstCsvRecord(file.readablePath);
  // Of a packed file only its unpacked text shows that it is empty.
  if (header.trim() === '' && (await isBlank(file.readablePath))) return;
  const names = parseCsvRecord(header);
  if (names.some((name) => name === '') || new Set(names).size !== names.length) {
    throw new QuarantineError('bad_header', `the header row names no column or one twice: ${names.join(',').slice(0, 200)}`);
  }
  assertColumns(names, required);
  await connection.run('DROP TABLE IF EXISTS csv_good');
  await assertQuoting(connection, file, names.length);
  // One column more, and cells that are missing told from empty ones: DuckDB lets an empty cell too many pass.
  const faults = await readCsv(connection, file, [...names, ''].length, 'null_padding = true, parallel = false', (csv, columns) =>
    `CREATE TEMP TABLE csv_good AS SELECT row_number() OVER () AS nth, ${columns.join(', ')} FROM ${csv}`);
  const record = `json_object(${names.map((name, index) => `${quoted(name)}, nullif(c${index}, '')`).join(', ')})`;
  const cells = [...names, ''].map((_, index) => `c${index}`).join(', ');
  // Row numbers count every row of the file, also the longest ones, which the reader left out.
  await connection.run(
    `INSERT INTO ${table}
     SELECT ${fileId}, nth + 1 + (SELECT count(*) FROM (SELECT line, row_number() OVER (ORDER BY line) AS k FROM (SELECT DISTINCT line FROM csv_errors)) WHERE line - 1 - k < nth),
       CASE WHEN c${names.length - 1} IS NOT NULL AND c${names.length} IS NULL THEN ${record} ELSE to_json(list_filter([${cells}], lambda cell: cell IS NOT NULL)) END::VARCHAR
     FROM csv_good`,
  );
  for (const { line, text } of faults) {
    await connection.run(`INSERT INTO ${table} VALUES (${fileId}, $line, $raw)`, { line, raw: JSON.stringify(parseCsvRecord(text)) });
  }
  await connection.run('DROP TABLE csv_good; DROP TABLE csv_errors; DROP TABLE csv_scans');
}

/** A reader that fills up short rows does not tell an open quote, so the quoting is checked by a pass of its own. */
async function assertQuoting(connection: DuckDBConnection, file: CheckedFile, cells: number): Promise<void> {
  const faults = await readCsv(connection, file, cells, 'null_padding = false', (csv) => `SELECT count(*) FROM ${csv}`);
  const broken = faults.find(({ types }) => !/^((TOO MANY|MISSING) COLUMNS,?)+$/.test(types));
  if (broken) throw new QuarantineError('broken_csv', `row ${broken.line}: ${broken.types.toLowerCase()}`);
}

interface CsvFault {
  /** Row of the file, with the header as row 1. */
  line: bigint;
  text: string;
  types: string;
}

/**
 * Runs a statement over a file's cells, as text columns `c0`, `c1` and so on: by number, since DuckDB takes names that
 * differ in case only for one. What the reader left out stays in the table `csv_errors`.
 */
async function readCsv(
  connection: DuckDBConnection, file: CheckedFile, cells: number, options: string, statement: (csv: string, columns: string[]) => string,
): Promise<CsvFault[]> {
  const columns = Array.from({ length: cells }, (_, index) => `c${index}`);
  await connection.run('DROP TABLE IF EXISTS csv_errors; DROP TABLE IF EXISTS csv_scans');
  await connection.run(statement(
    `read_csv(${quotedPath(file.readablePath)}, columns = {${columns.map((column) => `${column}: 'VARCHAR'`).join(', ')}}, delim = ',', quote = '"', escape = '"',
       new_line = '\\n', strict_mode = true, auto_detect = false, header = true, nullstr = '\u0001\u0002\u0001', hive_partitioning = false, ${readBuffer}, ${options},
       store_rejects = true, rejects_table = 'csv_errors', rejects_scan = 'csv_scans')`,
    columns,
  ));
  const faults = await connection.runAndReadAll('SELECT line, any_value(csv_line), string_agg(error_type::VARCHAR) FROM csv_errors GROUP BY line ORDER BY line');
  return faults.getRows().map(([line, text, types]) => ({ line: BigInt(String(line)), text: String(text), types: String(types) }));
}

async function loadParquet(connection: DuckDBConnection, file: CheckedFile, fileId: number, table: string, required: readonly string[]): Promise<void> {
  const parquet = `read_parquet(${quotedPath(file.readablePath)}, hive_partitioning = false)`;
  let columns: { name: string; type: string }[];
  try {
    const described = await connection.runAndReadAll(`DESCRIBE SELECT * FROM ${parquet}`);
    columns = described.getRows().map(([name, type]) => ({ name: String(name), type: String(type) }));
  } catch (error) {
    throw unreadableParquet(error as Error, file);
  }
  assertColumns(columns.map(({ name }) => name), required);
  const fields = columns.map(({ name, type }) => `${quoted(name)}, ${asJsonValue(identifier(name), type)}`);
  try {
    await connection.run(
      `INSERT INTO ${table} SELECT ${fileId}, row_number() OVER (), json_object(${fields.join(', ')})::VARCHAR FROM ${parquet}`,
    );
  } catch (error) {
    throw unreadableParquet(error as Error, file);
  }
}

/** The engine's own words, with the name that we use for the file instead of where it lies on this machine. */
function unreadableParquet({ message }: Error, file: CheckedFile): QuarantineError {
  return new QuarantineError('not_parquet', (message.split('\n')[0] ?? '').replaceAll(file.readablePath, file.path));
}

function assertColumns(names: readonly string[], required: readonly string[]): void {
  const missing = required.filter((name) => !names.includes(name));
  if (missing.length > 0) throw new QuarantineError('missing_column', `there is no column ${missing.join(', ')}`);
}

/** Numbers as text so that no digit is lost on the way; nested values as they are; a zone is written only where there is one. */
function asJsonValue(column: string, type: string): string {
  if (type === 'TIMESTAMP WITH TIME ZONE') return `strftime(timezone('UTC', ${column}), '%Y-%m-%dT%H:%M:%S.%fZ')`;
  if (type.startsWith('TIMESTAMP')) return `strftime(${column}, '%Y-%m-%dT%H:%M:%S.%f')`;
  if (/\[|STRUCT|MAP|JSON|BOOLEAN/.test(type)) return `to_json(${column})`;
  return `${column}::VARCHAR`;
}

async function isBlank(path: string): Promise<boolean> {
  for await (const chunk of createReadStream(path, 'utf8')) if (String(chunk).trim() !== '') return false;
  return true;
}

/** Reads up to the first line end outside quotes. */
async function firstCsvRecord(path: string): Promise<string> {
  const handle = await open(path);
  try {
    let text = '';
    const buffer = Buffer.alloc(64 * 1024);
    for (let quotes = 0, seen = 0; ;) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length);
      text += buffer.toString('latin1', 0, bytesRead);
      for (; seen < text.length; seen++) {
        if (text[seen] === '"') quotes++;
        else if (text[seen] === '\n' && quotes % 2 === 0) return Buffer.from(text.slice(0, seen), 'latin1').toString('utf8');
      }
      if (bytesRead === 0) return Buffer.from(text, 'latin1').toString('utf8');
      if (text.length > longestLineBytes) throw new QuarantineError('bad_header', 'no header row was found');
    }
  } finally {
    await handle.close();
  }
}

/** The cells of one CSV record. */
export function parseCsvRecord(record: string): string[] {
  const cells = [...record.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)];
  return cells.map(([, inQuotes, plain]) => inQuotes?.replaceAll('""', '"') ?? plain ?? '');
}
