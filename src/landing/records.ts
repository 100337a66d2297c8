import type { DuckDBConnection } from '@duckdb/node-api';
import { open } from 'node:fs/promises';
import { longestLineBytes, QuarantineError, type CheckedFile, type LandingRecord } from './landing-file.ts';
import { identifier, quoted } from './sql-text.ts';

/**
 * SQL for the lines of NDJSON files: `path`, `raw`. Blank lines are NULL.
 * Columns are cut at control characters that JSON text cannot hold unescaped, so a line stays whole.
 */
export function ndjsonLines(paths: readonly string[]): string {
  return `read_csv([${paths.map(quoted).join(', ')}], columns = {raw: 'VARCHAR'}, delim = '\u0001\u0002', quote = '', escape = '',
    new_line = '\\n', strict_mode = false, auto_detect = false, header = false, max_line_size = ${longestLineBytes}, filename = 'path')`;
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
  const names = parseCsvRecord(await firstCsvRecord(file.readablePath));
  if (names.some((name) => name === '') || new Set(names).size !== names.length) {
    throw new QuarantineError('bad_header', `the header row names no column or one twice: ${names.join(',').slice(0, 200)}`);
  }
  assertColumns(names, required);
  const columns = names.map((name) => `${quoted(name)}: 'VARCHAR'`).join(', ');
  const record = `json_object(${names.map((name) => `${quoted(name)}, ${identifier(name)}`).join(', ')})`;
  await connection.run('DROP TABLE IF EXISTS csv_errors; DROP TABLE IF EXISTS csv_scans; DROP TABLE IF EXISTS csv_good');
  await connection.run(
    `CREATE TEMP TABLE csv_good AS SELECT row_number() OVER () AS nth, ${record}::VARCHAR AS raw
     FROM read_csv(${quoted(file.readablePath)}, columns = {${columns}}, delim = ',', quote = '"', escape = '"', new_line = '\\n',
       strict_mode = true, auto_detect = false, header = true, max_line_size = ${longestLineBytes},
       store_rejects = true, rejects_table = 'csv_errors', rejects_scan = 'csv_scans')`,
  );
  const faults = (await connection.runAndReadAll('SELECT line, any_value(csv_line), string_agg(error_type::VARCHAR) FROM csv_errors GROUP BY line ORDER BY line')).getRows();
  const broken = faults.find(([, , types]) => !/^((TOO MANY|MISSING) COLUMNS,?)+$/.test(String(types)));
  if (broken) throw new QuarantineError('broken_csv', `line ${String(broken[0])}: ${String(broken[2]).toLowerCase()}`);
  // Row numbers count every row of the file, the ragged ones among them too, which the reader left out.
  await connection.run(
    `INSERT INTO ${table}
     SELECT ${fileId}, nth + 1 + (SELECT count(*) FROM (SELECT line, row_number() OVER (ORDER BY line) AS k FROM (SELECT DISTINCT line FROM csv_errors)) WHERE line - 1 - k < nth), raw
     FROM csv_good`,
  );
  for (const [line, text] of faults) {
    await connection.run(`INSERT INTO ${table} VALUES (${fileId}, $line, $raw)`, {
      line: BigInt(String(line)), raw: JSON.stringify(parseCsvRecord(String(text))),
    });
  }
  await connection.run('DROP TABLE csv_good; DROP TABLE csv_errors; DROP TABLE csv_scans');
}

async function loadParquet(connection: DuckDBConnection, file: CheckedFile, fileId: number, table: string, required: readonly string[]): Promise<void> {
  const parquet = `read_parquet(${quoted(file.readablePath)})`;
  let columns: { name: string; type: string }[];
  try {
    const described = await connection.runAndReadAll(`DESCRIBE SELECT * FROM ${parquet}`);
    columns = described.getRows().map(([name, type]) => ({ name: String(name), type: String(type) }));
  } catch (error) {
    throw new QuarantineError('not_parquet', (error as Error).message.split('\n')[0] ?? '');
  }
  assertColumns(columns.map(({ name }) => name), required);
  const fields = columns.map(({ name, type }) => `${quoted(name)}, ${asJsonValue(identifier(name), type)}`);
  try {
    await connection.run(
      `INSERT INTO ${table} SELECT ${fileId}, row_number() OVER (), json_object(${fields.join(', ')})::VARCHAR FROM ${parquet}`,
    );
  } catch (error) {
    throw new QuarantineError('not_parquet', (error as Error).message.split('\n')[0] ?? '');
  }
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
