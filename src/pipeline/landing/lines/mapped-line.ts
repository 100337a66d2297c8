import { isJsonObject, jsonText, parseJson, type JsonObject } from '../../../kit/text/json-text.ts';

/*
 * A line that a mapping made of somebody else's record: the record in our fields, and before them the record as it lay
 * there, which a reject shows. No field of ours begins with a tilde.
 */

const rawKey = '~raw';
/** The reason for which a mapping refuses the record. */
export const rejectKey = '~reject';
const prefix = `{"${rawKey}":`;

/** Keys that no field has. */
export const mappedKeys: readonly string[] = [rawKey, rejectKey];

/** Writes a record in our fields; `reject` in it refuses it. */
export function mappedLine(raw: string, record: JsonObject): string {
  return jsonText({ [rawKey]: raw, ...record });
}

/** The record as it lay in the landing file: the line itself, where no mapping made it. */
export function rawOfLine(line: string): string {
  if (!line.startsWith(prefix)) return line;
  const record = parseJson(line);
  return isJsonObject(record) && typeof record[rawKey] === 'string' ? record[rawKey] : line;
}

/** SQL of the same. A file's own line may begin so and be no JSON. */
export function rawOfLineSql(line: string): string {
  return `CASE WHEN starts_with(${line}, '${prefix}') THEN coalesce(TRY(json_extract_string(${line}, '$."${rawKey}"')), ${line}) ELSE ${line} END`;
}

/** SQL of the reason for which a mapping refuses the record of a line; NULL for all other lines. */
export function rejectOfLineSql(line: string): string {
  return `CASE WHEN contains(${line}, '"${rejectKey}":') THEN TRY(json_extract_string(${line}, '$."${rejectKey}"')) END`;
}
