import type { LogSchema } from './log-fields.ts';
import { quoted } from './sql-text.ts';

/** Bits of the `warnings` column: what was dropped from an accepted event. */
export const warningBit = { unknownField: 1, firstDropped: 2 } as const;

/**
 * SQL that reads log rows `(file_id, line, raw)` into typed events, all in one pass over the text:
 * the schema's fields; `warnings`, a bit set; `reject`, NULL for a good row, else JSON of `reason` and `raw`.
 */
export function parsedLog(schema: LogSchema, rows: string): string {
  const { fields } = schema;
  const shape = JSON.stringify(Object.fromEntries(fields.map(({ name }) => [name, 'VARCHAR'])));
  const faults = fields.flatMap((field) => field.faults).map(({ when, reason }) => `WHEN ${when} THEN ${quoted(reason)}`);
  const drops = droppableFields(schema).map((field, index) => ` + CASE WHEN ${field.dropped} THEN ${warningBit.firstDropped << index} ELSE 0 END`);
  return `
    SELECT file_id, line, ${fields.map(({ name }) => `${name}_value AS ${name}`).join(', ')}, warnings,
      CASE WHEN fault IS NOT NULL THEN json_object('reason', fault, 'raw', raw)::VARCHAR END AS reject
    FROM (
      SELECT *,
        CASE WHEN NOT is_object OR (odd AND ${laxJson}) THEN 'not_json_object'
          WHEN odd AND len(json_keys(raw)) <> len(list_distinct(json_keys(raw))) THEN 'duplicate_key'
          ${faults.join('\n          ')} END AS fault,
        (CASE WHEN odd AND is_object AND ${hasUnknownField(schema)} THEN ${warningBit.unknownField} ELSE 0 END${drops.join('')})::UTINYINT AS warnings
      FROM (
        SELECT *, ${fields.map(({ name, value }) => `${value} AS ${name}_value`).join(',\n          ')},
          ${mayHoldMore(schema)} AS odd
        FROM (
          SELECT file_id, line, raw, is_object, unnest(from_json(CASE WHEN is_object THEN raw END, ${quoted(shape)}))
          FROM (SELECT *, json_valid(raw) AND (starts_with(raw, '{') OR starts_with(ltrim(raw), '{')) AS is_object
                FROM ${rows} WHERE strlen(raw) > 64 OR trim(raw) <> ''))))`;
}

/** Fields whose values may be dropped with a warning, in the order of their bits. */
export function droppableFields(schema: LogSchema) {
  return schema.fields.filter((field) => field.dropped !== undefined);
}

/**
 * True where the line is longer than its known fields in compact JSON: only then can it hold anything else, so only
 * then are its keys listed. Compact logs, which are the large ones, are thus parsed once.
 */
function mayHoldMore({ fields }: LogSchema): string {
  const lengths = fields.map(({ name, bare }) => `coalesce(strlen(${name}) + ${name.length + (bare ? 4 : 6)}, 0)`);
  return `is_object AND strlen(raw) > 1 + ${lengths.join(' + ')}`;
}

function hasUnknownField({ fields }: LogSchema): string {
  return `len(list_filter(json_keys(raw), lambda key: key NOT IN (${fields.map(({ name }) => quoted(name)).join(', ')}))) > 0`;
}

/** What DuckDB's parser takes and JSON forbids: trailing commas, NaN, Infinity, comments. Looked for outside strings. */
const laxJson = `regexp_matches(regexp_replace(raw, '"([^"\\\\]|\\\\.)*"', '""', 'g'), ',\\s*[}\\]]|[nN]a[nN]|[iI]nf|/[*/]')`;
