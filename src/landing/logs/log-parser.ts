import { hasHalfSurrogates, withoutHalfSurrogates } from '../../text/half-surrogates.ts';
import { charactersKept } from '../../text/kept-text.ts';
import type { LogField, LogSchema } from './log-fields.ts';
import { quoted } from '../../text/sql-text.ts';

/** Bits of the `warnings` column: what was dropped from an accepted event, or replaced in it. */
export const warningBit = { unknownField: 1, firstDropped: 2, halfSurrogate: 128 } as const;

/**
 * SQL that reads log rows `(file_id, line, raw)` into typed events, all in one pass over the text:
 * the schema's fields; `warnings`, a bit set; `reject`, NULL for a good row, else JSON of `line`, `reason`, `raw`, which
 * has the row's first characters only, and `raw_length`; of a row that is cut `digest` identifies the whole text.
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
 * The pattern of an object as most writers write it: known fields only, values that are plain numbers or strings without
 * escapes and control characters, no spaces but one behind `:` and `,`. One scan by it proves that the line is JSON, that
 * it holds nothing unknown and that no value is of another kind; every other line is looked at closely.
 */
function plainObject({ fields }: LogSchema): string {
  const named = (some: LogField[]) => `"(?:${some.map(({ name }) => name).join('|')})": ?`;
  const wholeNumber = '(?:0|[1-9][0-9]{0,17})';
  const value = `${named(fields)}(?:"[^"\\\\\\x00-\\x1f]*"|${wholeNumber})`;
  const decimal = `${named(fields.filter(({ bare }) => bare))}${wholeNumber}\\.[0-9]{1,18}`;
  const pair = `(?:${value}|${decimal})`;
  return `\\{${pair}(?:, ?${pair})*\\}`;
}

/** A plain object that is longer than its fields names one of them twice. Numbers lack two quotes, so they are looked at too. */
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

/** What DuckDB's parser takes and JSON forbids: trailing commas, NaN, Infinity, comments. Looked for outside strings. */
const laxJson = `regexp_matches(regexp_replace(record, '"([^"\\\\]|\\\\.)*"', '""', 'g'), ',\\s*[}\\]]|[nN]a[nN]|[iI]nf|/[*/]')`;
