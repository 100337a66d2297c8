import { hasHalfSurrogates, withoutHalfSurrogates } from '../../../kit/text/half-surrogates.ts';
import { charactersKept } from '../../../kit/text/kept-text.ts';
import type { LogFault, LogField, LogSchema } from './log-fields.ts';
import { dayNumber } from '../../../kit/time/day-number.ts';
import { eventKey } from '../../../kit/vocabulary/event-key.ts';
import { quoted, quotedPathList } from '../../../kit/text/sql-text.ts';
import { mappedKeys, rawOfLineSql, rejectOfLineSql } from '../lines/mapped-line.ts';
import type { FileLines } from '../landing-file.ts';
import { maxLineBytes } from '../../../kit/intake/reading/record-sink.ts';
import { longLineBytes } from '../../../kit/intake/reading/text-check.ts';

/** Bits of the `warnings` column: what was dropped from an accepted event, or replaced in it. */
export const warningBit = { unknownField: 1, firstDropped: 2, halfSurrogate: 128 } as const;

/**
 * SQL that reads log rows `(file_id, line, raw)` into staged events: the typed fields, the `event_key` that makes the
 * event one, and the `day_number` of its UTC day, NULL for a rejected row. `columns`: further columns of `events`.
 */
export function stagedLog(schema: LogSchema, rows: string, columns: readonly 'line'[] = []): string {
  return `
    ${judgedRows(schema, rows)}
    SELECT ${schema.fields.map(({ name }) => name).join(', ')}, ${eventKey[schema.kind]} AS event_key, file_id, warnings, reject,${columns.map((name) => ` ${name},`).join('')}
      CASE WHEN reject IS NULL THEN ${dayNumber(schema.time)} END AS day_number
    FROM events`;
}

/**
 * SQL that reads log rows `(file_id, line, raw)` into typed events, all in one pass over the text:
 * the schema's fields; `warnings`, a bit set; `reject`, NULL for a good row, else JSON of `line`, `reason`, `raw`,
 * which has the row's first characters only, and `raw_length`; of a row that is cut `digest` identifies the whole text.
 */
export function parsedLog(schema: LogSchema, rows: string): string {
  return `${judgedRows(schema, rows)}
    SELECT * FROM events`;
}

/** SQL that is true of a line that is not blank, or longer than a blank one should be; OR would trim every line. */
export const isRow = `CASE WHEN strlen(raw) > 64 THEN true ELSE trim(raw) <> '' END`;

/**
 * The steps of both statements, one after the other, as SQL comments describe them. Each is used once, so DuckDB plans
 * them as one query without a table between. A second look at each line by `json_valid` costs little; of 2,048 lines of
 * which one is not JSON `TRY` would read each by itself, ten times as slowly.
 */
function judgedRows(schema: LogSchema, rows: string): string {
  const { fields } = schema;
  const shape = quoted(JSON.stringify(Object.fromEntries(fields.map(({ name }) => [name, 'VARCHAR']))));
  return `WITH
    -- Lines that are not blank. texts: the fields' texts, NULL where the line is not JSON.
    raw_rows AS (
      SELECT *, CASE WHEN json_valid(raw) THEN from_json(raw, ${shape}) END AS texts FROM ${rows} WHERE ${isRow}
    ),
    raw_texts AS (
      SELECT *, unnest(texts) FROM raw_rows
    ),
    -- is_plain: the line is written as most writers write it, so its texts need no further look.
    recognized AS (
      SELECT file_id, line, raw, texts, ${isPlain(schema)} AS is_plain FROM raw_texts
    ),
    -- record: the line with each half of a surrogate replaced.
    repaired AS (
      SELECT *, CASE WHEN is_plain THEN raw WHEN ${hasHalfSurrogates('raw')} THEN ${withoutHalfSurrogates('raw')} ELSE raw END AS record
      FROM recognized
    ),
    objects AS (
      SELECT *, CASE WHEN is_plain THEN true ELSE json_valid(record) AND starts_with(ltrim(record, chr(9) || ' '), '{') END AS is_object
      FROM repaired
    ),
    -- Texts of the fields, each under the field's name.
    parsed AS (
      SELECT file_id, line, raw, record, is_plain, is_object,
        unnest(CASE WHEN is_plain THEN texts ELSE from_json(CASE WHEN is_object THEN ${withoutAbsent} END, ${shape}) END)
      FROM objects
    ),
    -- <field>_value: the typed value.
    typed AS (
      SELECT *,
        ${fields.map(({ name, value }) => `${value} AS ${name}_value`).join(',\n        ')}
      FROM parsed
    ),
    -- fault: the reason to reject the row; warnings: bits of what was dropped or replaced in it.
    judged AS (
      SELECT *,
        ${faultOf(schema)} AS fault,
        ${warningsOf(schema)} AS warnings
      FROM typed
    ),
    -- shown: of a rejected row the record as it lay there.
    shown_rows AS (
      SELECT *, CASE WHEN fault IS NOT NULL THEN ${rawOfLineSql('raw')} END AS shown FROM judged
    ),
    events AS (
      SELECT file_id, line, ${fields.map(({ name }) => `${name}_value AS ${name}`).join(', ')}, warnings,
        CASE WHEN fault IS NOT NULL THEN json_object('line', line, 'reason', fault, 'raw', left(shown, ${charactersKept}), 'raw_length', length(shown),
          'digest', CASE WHEN length(shown) > ${charactersKept} THEN sha256(shown) END)::VARCHAR END AS reject
      FROM shown_rows
    )`;
}

/**
 * SQL for `record` with null for each value `\\N`, by which databases write what is absent. Its quote follows a colon
 * nowhere within a string.
 */
const withoutAbsent = String.raw`CASE WHEN contains(record, '"\\N"') THEN regexp_replace(record, ':\s*"\\\\N"', ':null', 'g') ELSE record END`;

/** SQL for the first reason to reject a row of `typed`; NULL for a good one. */
function faultOf({ fields }: LogSchema): string {
  const faults = fields.flatMap((field) => field.faults);
  const whens = (some: readonly LogFault[]) =>
    some.map(({ when, reason }) => `WHEN ${when} THEN ${quoted(reason)}`).join('\n          ');
  const refused = rejectOfLineSql('record');
  return `CASE WHEN is_plain THEN CASE
          ${whens(faults.filter(({ neverOfPlain }) => !neverOfPlain))} END
        ELSE CASE
          WHEN NOT is_object OR ${laxJson} THEN 'not_json_object'
          WHEN len(json_keys(record)) <> len(list_distinct(json_keys(record))) THEN 'duplicate_key'
          WHEN ${refused} IS NOT NULL THEN ${refused}
          ${whens(faults)} END
        END`;
}

/** SQL for the bits of `warningBit` and of the dropped fields of a row of `typed`. */
function warningsOf(schema: LogSchema): string {
  const bit = (when: string, value: number) => `CASE WHEN ${when} THEN ${value} ELSE 0 END`;
  const unknown = bit(hasUnknownField(schema), warningBit.unknownField);
  const drops = droppableFields(schema).map(
    (field, index) => `\n          + ${bit(field.dropped, warningBit.firstDropped << index)}`,
  );
  return `(CASE WHEN is_plain THEN 0
          ELSE CASE WHEN is_object THEN ${unknown} ELSE 0 END + ${bit('record <> raw', warningBit.halfSurrogate)} END${drops.join('')})::UTINYINT`;
}

/**
 * SQL that is true of lines that are objects as most writers write them: known fields only, each once, values that are
 * plain numbers or strings without escapes and control characters, no spaces but one behind `:` and `,`. Of such a line
 * nothing else has to be asked: it is JSON, it holds nothing unknown and no value is of another kind. Every other line
 * is looked at closely. Needs the line as `raw` and beside it the fields' texts that were read from it.
 */
function isPlain(schema: LogSchema): string {
  const { fields } = schema;
  const present = fields.map(({ name }) => `(${name} IS NOT NULL)::INTEGER`).join(' + ');
  return `CASE WHEN ${isAsWrittenAgain(schema)} THEN true
                  WHEN regexp_full_match(raw, ${quoted(plainObject(schema))}) THEN len(json_keys(raw)) = ${present} ELSE false END`;
}

/**
 * Nearly every line of most writers is the same when what was read from it is written again, fields in our order; that
 * takes half as long as a look at its text. Names and quotes are then where they are written, and what is between them
 * was read without an escape, which would be longer than its character. A value without quotes is a number in plain
 * digits.
 */
function isAsWrittenAgain({ fields, required }: LogSchema): string {
  const written = (colon: string, comma: string) => {
    const parts: string[] = [];
    // Behind a text that no line lacks the closing quote is part of what comes next: each part takes time.
    let isOpen = false;
    for (const [index, { name, bare }] of fields.entries()) {
      const before = `${index === 0 ? '{' : comma}"${name}"${colon}`;
      if (bare !== undefined) {
        if (isOpen) parts.push(quoted('"'));
        isOpen = false;
        // What is missing is no part: NULL. A line without what is required is none that has it empty.
        parts.push(`${quoted(before)} || ${name}`);
      } else if (required.includes(name)) {
        parts.push(quoted(`${isOpen ? '"' : ''}${before}"`), name);
        isOpen = true;
      } else {
        const ifPresent = (text: string) => `CASE WHEN ${name} IS NOT NULL THEN ${quoted(text)} END`;
        parts.push(ifPresent(`${isOpen ? '"' : ''}${before}"`), name);
        if (!isOpen) parts.push(ifPresent('"'));
      }
    }
    return `raw = concat(${parts.join(', ')}, ${quoted(isOpen ? '"}' : '}')})`;
  };
  const numbers = fields.flatMap(({ name, bare }) => (bare === undefined ? [] : [`(${name} IS NULL OR ${bare})`]));
  const hasSpaces = `starts_with(raw, ${quoted(`{"${fields[0]?.name}": `)})`;
  return `CASE WHEN ${hasSpaces} THEN ${written(': ', ', ')} ELSE ${written(':', ',')} END AND ${numbers.join(' AND ')}`;
}

/**
 * One scan by this pattern shows as much of lines in which the fields have another order, but not that each is there
 * once. `further`: how often a pair may follow the first one, for engines whose stack grows with it; `none`: one more
 * value that is plain.
 */
export function plainObject({ fields }: LogSchema, further = '*', none = ''): string {
  const named = (some: LogField[]) => `"(?:${some.map(({ name }) => name).join('|')})": ?`;
  const wholeNumber = '(?:0|[1-9][0-9]{0,17})';
  const value = `${named(fields)}(?:"[^"\\\\\\x00-\\x1f]*"|${wholeNumber}${none === '' ? '' : `|${none}`})`;
  const decimal = `${named(fields.filter(({ bare }) => bare))}${wholeNumber}\\.[0-9]{1,18}`;
  const pair = `(?:${value}|${decimal})`;
  return `\\{${pair}(?:, ?${pair})${further}\\}`;
}

/** Fields whose values may be dropped with a warning, in the order of their bits. */
export function droppableFields(schema: LogSchema): (LogField & { dropped: string })[] {
  return schema.fields.filter((field): field is LogField & { dropped: string } => field.dropped !== undefined);
}

function hasUnknownField({ fields }: LogSchema): string {
  return `len(list_filter(json_keys(record), lambda key: key NOT IN (${[...fields.map(({ name }) => name), ...mappedKeys].map(quoted).join(', ')}))) > 0`;
}

/**
 * Forms that DuckDB's parser takes and JSON forbids: trailing commas, NaN, Infinity, comments. Looked for outside
 * strings.
 */
const laxJson = `regexp_matches(regexp_replace(record, '"([^"\\\\]|\\\\.)*"', '""', 'g'), ',\\s*[}\\]]|[nN]a[nN]|[iI]nf|/[*/]')`;

/**
 * Every file that DuckDB has open takes a buffer or two, so they are no larger than reading quickly needs. A line that
 * is no long one is at most three times as long when what the line reader cuts at shows as a picture.
 */
const readBuffer = `max_line_size = ${4 * longLineBytes}, buffer_size = ${4 * 2 ** 20}`;
/** Twice the longest line, or DuckDB takes sixteen times as much. */
const longReadBuffer = `max_line_size = ${maxLineBytes}, buffer_size = ${2 * maxLineBytes}`;

/**
 * SQL for the lines of checked files: `path`, `raw`. Blank lines are NULL.
 * Columns are cut at a control character that a checked file does not hold, so a line stays whole.
 */
function lines(paths: readonly string[], buffer = readBuffer): string {
  return `read_csv(${quotedPathList(paths)}, columns = {raw: 'VARCHAR'}, delim = '\u0001\u0002', quote = '', escape = '',
    new_line = '\\n', strict_mode = false, auto_detect = false, header = false, hive_partitioning = false, ${buffer}, filename = 'path')`;
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

/** SQL relations `(file_id, line, raw)` of the same of several files: the lines of all but the long ones first. */
export function numberedRows(files: readonly (FileLines & { fileId: number })[]): string[] {
  const rows = files.map((file) => numberedLines(file).map((numbered) => rowsOfFile(file.fileId, numbered)));
  const ordinary = rows.map(([first]) => `FROM ${first}`).join(' UNION ALL ');
  return [`(${ordinary})`, ...rows.flatMap(([, ...long]) => long)];
}

/** The same of long lines alone. */
function numberedLongLines({ path, rows }: FileLines['longLines'][number]): string {
  return `(SELECT [${rows.join(', ')}][nth]::BIGINT AS line, raw FROM (SELECT row_number() OVER () AS nth, raw FROM ${lines([path], longReadBuffer)}))`;
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

/** The same of one file's lines in their order, without the long ones and without numbers. */
export function rowsInOrder({ readablePath }: FileLines, fileId: number): string {
  return rowsOfFile(fileId, `(SELECT NULL::BIGINT AS line, raw FROM ${lines([readablePath])})`);
}

/** The same of one relation `(line, raw)` of one file. */
export function rowsOfFile(fileId: number, numbered: string): string {
  return `(SELECT ${fileId} AS file_id, line, raw FROM ${numbered})`;
}
