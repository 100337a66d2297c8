import { hasHalfSurrogates, withoutHalfSurrogates } from '../../text/half-surrogates.ts';
import { charactersKept } from '../../text/kept-text.ts';
import type { LogField, LogSchema } from './log-fields.ts';
import { dayNumber } from '../../time/day-number.ts';
import { quoted, quotedPathList } from '../../text/sql-text.ts';
import { maxLineBytes, type FileLines } from '../landing-file.ts';

/** Bits of the `warnings` column: what was dropped from an accepted event, or replaced in it. */
export const warningBit = { unknownField: 1, firstDropped: 2, halfSurrogate: 128 } as const;

/**
 * The statement that reads log rows `(file_id, line, raw)` into what is staged: the typed fields, the `event_key` that
 * makes the event one, and the `day_number` of its UTC day, NULL for a rejected row.
 */
export function stagedLog(schema: LogSchema, rows: string): string {
  const fields = schema.fields.map(({ name }) => name).join(', ');
  return `
    SELECT ${fields}, hash(${schema.key.join(', ')}) AS event_key, file_id, warnings, reject,
      CASE WHEN reject IS NULL THEN ${dayNumber(schema.time)} END AS day_number
    FROM (${parsedLog(schema, rows)})`;
}

/**
 * SQL that reads log rows `(file_id, line, raw)` into typed events, all in one pass over the text:
 * the schema's fields; `warnings`, a bit set; `reject`, NULL for a good row, else JSON of `line`, `reason`, `raw`,
 * which has the row's first characters only, and `raw_length`; of a row that is cut `digest` identifies the whole text.
 */
export function parsedLog(schema: LogSchema, rows: string): string {
  const { fields } = schema;
  const shape = JSON.stringify(Object.fromEntries(fields.map(({ name }) => [name, 'VARCHAR'])));
  const faults = fields
    .flatMap((field) => field.faults)
    .map(({ when, reason }) => `WHEN ${when} THEN ${quoted(reason)}`);
  const drops = droppableFields(schema).map(
    (field, index) => ` + CASE WHEN ${field.dropped} THEN ${warningBit.firstDropped << index} ELSE 0 END`,
  );
  return `
    SELECT file_id, line, ${fields.map(({ name }) => `${name}_value AS ${name}`).join(', ')}, warnings,
      CASE WHEN fault IS NOT NULL THEN json_object('line', line, 'reason', fault, 'raw', left(raw, ${charactersKept}), 'raw_length', length(raw),
        'digest', CASE WHEN length(raw) > ${charactersKept} THEN sha256(raw) END)::VARCHAR END AS reject
    FROM (
      SELECT *,
        CASE WHEN NOT is_object OR CASE WHEN NOT is_plain THEN ${laxJson} END THEN 'not_json_object'
          WHEN CASE WHEN may_repeat THEN len(json_keys(record)) <> len(list_distinct(json_keys(record))) END THEN 'duplicate_key'
          ${faults.join('\n          ')} END AS fault,
        (CASE WHEN CASE WHEN is_object AND NOT is_plain THEN ${hasUnknownField(schema)} END THEN ${warningBit.unknownField} ELSE 0 END
          + CASE WHEN CASE WHEN NOT is_plain THEN record <> raw END THEN ${warningBit.halfSurrogate} ELSE 0 END${drops.join('')})::UTINYINT AS warnings
      FROM (
        SELECT *, ${fields.flatMap(computedColumns).join(',\n          ')},
          CASE WHEN is_plain THEN ${isNotAsLongAsItsFields(schema)} ELSE is_object END AS may_repeat
        FROM (
          SELECT file_id, line, raw, record, is_plain, is_object, unnest(from_json(CASE WHEN is_object THEN record END, ${quoted(shape)}))
          FROM (SELECT *, CASE WHEN is_plain THEN true ELSE json_valid(record) AND starts_with(ltrim(record, chr(9) || ' '), '{') END AS is_object
                FROM (SELECT *, CASE WHEN is_plain THEN raw WHEN ${hasHalfSurrogates('raw')} THEN ${withoutHalfSurrogates('raw')} ELSE raw END AS record
                      FROM (SELECT *, regexp_full_match(raw, ${quoted(plainObject(schema))}) AS is_plain
                            FROM ${rows} WHERE strlen(raw) > 64 OR trim(raw) <> ''))))))`;
}

/**
 * The pattern of an object as most writers write it: known fields only, values that are plain numbers or strings
 * without escapes and control characters, no spaces but one behind `:` and `,`. One scan by it proves that the line is
 * JSON, that it holds nothing unknown and that no value is of another kind; every other line is looked at closely.
 */
function plainObject({ fields }: LogSchema): string {
  const named = (some: LogField[]) => `"(?:${some.map(({ name }) => name).join('|')})": ?`;
  const wholeNumber = '(?:0|[1-9][0-9]{0,17})';
  const value = `${named(fields)}(?:"[^"\\\\\\x00-\\x1f]*"|${wholeNumber})`;
  const decimal = `${named(fields.filter(({ bare }) => bare))}${wholeNumber}\\.[0-9]{1,18}`;
  const pair = `(?:${value}|${decimal})`;
  return `\\{${pair}(?:, ?${pair})*\\}`;
}

/**
 * A plain object that is longer than its fields names one of them twice. Numbers lack two quotes, so they are looked at
 * too.
 */
function isNotAsLongAsItsFields({ fields }: LogSchema): string {
  const lengths = fields
    .map(({ name, bare }) => `coalesce(strlen(${name}) + ${name.length + (bare ? 4 : 6)}, 0)`)
    .join(' + ');
  const present = fields.map(({ name }) => `(${name} IS NOT NULL)::INTEGER`).join(' + ');
  return `CASE WHEN strlen(raw) = 1 + ${lengths} THEN false ELSE strlen(raw) <> ${lengths} + 2 * (${present}) END`;
}

function computedColumns({ name, value, unlike }: LogField): string[] {
  return [`${value} AS ${name}_value`, ...(unlike === undefined ? [] : [`${unlike} AS ${name}_unlike`])];
}

/** Fields whose values may be dropped with a warning, in the order of their bits. */
export function droppableFields(schema: LogSchema) {
  return schema.fields.filter((field) => field.dropped !== undefined);
}

function hasUnknownField({ fields }: LogSchema): string {
  return `len(list_filter(json_keys(record), lambda key: key NOT IN (${fields.map(({ name }) => quoted(name)).join(', ')}))) > 0`;
}

/**
 * What DuckDB's parser takes and JSON forbids: trailing commas, NaN, Infinity, comments. Looked for outside strings.
 */
const laxJson = `regexp_matches(regexp_replace(record, '"([^"\\\\]|\\\\.)*"', '""', 'g'), ',\\s*[}\\]]|[nN]a[nN]|[iI]nf|/[*/]')`;

/** Twice the longest line, or DuckDB takes sixteen times as much for every file that it has open. */
const readBuffer = `max_line_size = ${maxLineBytes}, buffer_size = ${2 * maxLineBytes}`;

/**
 * SQL for the lines of checked files: `path`, `raw`. Blank lines are NULL.
 * Columns are cut at a control character that a checked file does not hold, so a line stays whole.
 */
function lines(paths: readonly string[]): string {
  return `read_csv(${quotedPathList(paths)}, columns = {raw: 'VARCHAR'}, delim = '\u0001\u0002', quote = '', escape = '',
    new_line = '\\n', strict_mode = false, auto_detect = false, header = false, hive_partitioning = false, ${readBuffer}, filename = 'path')`;
}

/**
 * SQL relations `(line, raw)` of all lines of a file with the numbers of their records, the long ones apart:
 * each is to be read by a statement of its own. Numbering forces file order and costs as much as the reading itself.
 */
export function numberedLines({ readablePath, firstRow, longLines }: FileLines): string[] {
  return [
    `(SELECT row_number() OVER () + ${firstRow - 1} AS line, raw FROM ${lines([readablePath])})`,
    ...longLines.map(numberedLongLines),
  ];
}

/** The same of long lines alone. */
function numberedLongLines({ path, rows }: FileLines['longLines'][number]): string {
  return `(SELECT [${rows.join(', ')}][nth]::BIGINT AS line, raw FROM (SELECT row_number() OVER () AS nth, raw FROM ${lines([path])}))`;
}

/**
 * SQL relations `(file_id, line, raw)` over log files, each to be read by a statement of its own: the first one without
 * the long lines and with NULL as `line`, since lines are numbered only where a row is bad; then the long ones.
 * `positions` is a table `(file_id, path)` of these files.
 */
export function logRows(files: readonly (FileLines & { fileId: number })[], positions: string): string[] {
  if (files.length === 0) return [];
  const paths = files.map(({ readablePath }) => readablePath);
  return [
    `(SELECT file_id, NULL::BIGINT AS line, raw FROM ${lines(paths)} JOIN ${positions} USING (path))`,
    ...files.flatMap(({ fileId, longLines }) => longLines.map((long) => rowsOfFile(fileId, numberedLongLines(long)))),
  ];
}

/** The same of one relation `(line, raw)` of one file. */
export function rowsOfFile(fileId: number, numbered: string): string {
  return `(SELECT ${fileId} AS file_id, line, raw FROM ${numbered})`;
}
