import { scalarText, valueAt } from '../../kit/intake/mapping/places.ts';
import { jsonText, type JsonObject } from '../../kit/text/json-text.ts';
import { FirstContents } from './first-contents.ts';

/** Places that a conversion's id is joined of, since the first of them alone is no id. */
interface JoinedId {
  /** The first alone where no other that is proposed makes it one. */
  places: string[];
  /** Records whose id alone an earlier record has that says something else. */
  repeated: number;
}

/**
 * Finds what has to be joined to a proposed `conversion_id` that several conversions have: their milestone, else their
 * time, too. Of rows of state one conversion has several, so only other milestones tell them apart.
 *
 * @returns undefined where the id is one
 */
export function joinedId(
  fields: Readonly<Record<string, unknown>>,
  records: readonly JsonObject[],
): JoinedId | undefined {
  const [id, event, time, kind] = ['conversion_id', 'event_id', 'occurred_at', 'kind'].map((name) =>
    placeOf(fields[name]),
  );
  if (id === undefined || (event === undefined && 'status' in fields)) return undefined;
  const textAt = (record: JsonObject, place: string) => scalarText(valueAt(record, place))?.trim() ?? '';
  const content = (record: JsonObject) =>
    event !== undefined && 'status' in fields ? textAt(record, event) : jsonText(record);
  const repeatedBy = (places: readonly string[]) => {
    const key = [...places, ...(kind === undefined ? [] : [kind])];
    const contents = new FirstContents();
    for (const record of records)
      if (textAt(record, id) !== '')
        contents.add(JSON.stringify(key.map((place) => textAt(record, place))), content(record));
    return contents.conflicts;
  };
  const repeated = repeatedBy([id]);
  if (repeated === 0) return undefined;
  const choices = event === undefined ? [] : [[id, event], ...(time === undefined ? [] : [[id, event, time]])];
  const best = choices
    .map((places) => ({ places, left: repeatedBy(places) }))
    .reduce((one, other) => (other.left < one.left ? other : one), { places: [id], left: repeated });
  return { places: best.places, repeated };
}

/** Place of a rule in the mapping's language; undefined for one of several places. */
function placeOf(rule: unknown): string | undefined {
  const at = typeof rule === 'object' && rule !== null && 'at' in rule ? rule.at : rule;
  return typeof at === 'string' ? at : undefined;
}
