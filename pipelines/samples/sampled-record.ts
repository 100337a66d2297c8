import { isJsonObject, JsonNumber, type JsonValue } from '../../src/kit/text/json-text.ts';
import { tracedPlaces, type ConvertedRecord } from '../../src/sources/records/traced-places.ts';

/** JSON for output, with each number as it was written: as a text where JavaScript would write it otherwise. */
type ShownJson = string | number | boolean | null | ShownJson[] | { [key: string]: ShownJson };

/** A record of a network beside what it becomes. No text of it contains a secret of the source. */
export interface SampledRecord {
  /** Its id; null where it has none. */
  id: string | null;
  becomes: 'offer' | 'conversion' | 'rejected' | 'left_out';
  /** Why it is rejected or left out, and what to do about it. */
  reason: string | null;
  cure: string | null;
  warnings: string[];
  /** Our fields, each with the places of the network's record that it is made of. */
  fields: { field: string; value: ShownJson; from: { place: string; value: ShownJson }[] }[];
  /** Places that nothing is made of. */
  unused: string[];
  record: ShownJson;
}

/** What happened to the records of a page: a reason, how many it is about, and what to do. */
export interface CountedReason {
  reason: string;
  records: number;
  cure: string | null;
}

/**
 * Shows a record beside its fields. `values`: our fields as they are stored, in the order in which they are shown;
 * `convert`: the conversion by which the places are found.
 */
export function sampledRecord(
  record: JsonValue,
  values: ConvertedRecord,
  convert: (record: JsonValue) => ConvertedRecord,
  redact: (text: string) => string,
): Pick<SampledRecord, 'fields' | 'unused' | 'record'> {
  const places = tracedPlaces(record, convert);
  const names = Object.keys(values).filter((name) => values[name] !== undefined);
  return {
    fields: names.map((field) => ({
      field,
      value: shownJson(values[field] ?? null, redact),
      from: places
        .filter(({ fields }) => fields.includes(field))
        .map(({ place, value }) => ({ place: redact(place), value: shownJson(value, redact) })),
    })),
    unused: places.filter(({ fields }) => fields.length === 0).map(({ place }) => redact(place)),
    record: shownJson(record, redact),
  };
}

export function countReasons(reasons: readonly string[], cure: (reason: string) => string | null): CountedReason[] {
  const counts = new Map<string, number>();
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts]
    .map(([reason, records]) => ({ reason, records, cure: cure(reason) }))
    .toSorted((one, other) => other.records - one.records);
}

function shownJson(value: JsonValue, redact: (text: string) => string): ShownJson {
  if (value instanceof JsonNumber) {
    const text = redact(value.text);
    return String(Number(text)) === text ? Number(text) : text;
  }
  if (Array.isArray(value)) return value.map((member) => shownJson(member, redact));
  if (!isJsonObject(value)) return typeof value === 'string' ? redact(value) : value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [redact(name), shownJson(member, redact)] as const),
  );
}
