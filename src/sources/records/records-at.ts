import { membersOf } from '../../kit/intake/mapping/places.ts';
import { isJsonObject, type JsonValue } from '../../kit/text/json-text.ts';
import { FetchError } from '../http/fetcher.ts';

/** In a place of records each member of a list; in a record's places the member that the record is in. */
const each = '*';

/**
 * Returns the records at a place of an answer: members of a list, or values of an object in its place. With `*` in the
 * place those of each member, which is at `*` in its records. Throws `FetchError` where the place is missing: only an
 * empty list, or a value that networks write in its place, means no records.
 */
export function recordsAt(answer: JsonValue, place: string): JsonValue[] {
  return recordsBelow(answer, place === '' ? [] : place.split('.'), place);
}

/** `outer`: the member of a list that the value is, or undefined for the answer. */
function recordsBelow(value: JsonValue, keys: readonly string[], place: string, outer?: JsonValue): JsonValue[] {
  const star = keys.indexOf(each);
  const members = membersOf(listAt(value, star === -1 ? keys : keys.slice(0, star), place, outer !== undefined));
  if (outer !== undefined) setOuter(members, outer);
  if (star === -1) return members;
  return members.flatMap((member) => recordsBelow(member, keys.slice(star + 1), place, member));
}

/** Not enumerable: the outer member would become part of the text of each record. */
function setOuter(members: readonly JsonValue[], outer: JsonValue): void {
  for (const member of members) if (isJsonObject(member)) Object.defineProperty(member, each, { value: outer });
}

/** `mayLack`: a member of a list need not have the rest of the place. */
function listAt(value: JsonValue, keys: readonly string[], place: string, mayLack: boolean): JsonValue {
  let at = value;
  for (const key of keys) {
    if (isNone(at)) return [];
    if (!isJsonObject(at) || !Object.hasOwn(at, key)) {
      if (mayLack && isJsonObject(at)) return [];
      throw new FetchError(`the answer has no "${place}", the place of the records`);
    }
    at = at[key] ?? null;
  }
  if (isNone(at)) return [];
  if (!Array.isArray(at) && !isJsonObject(at)) throw new FetchError(`the value at "${place}" is no list`);
  return at;
}

function isNone(value: JsonValue): boolean {
  return value === null || value === false || value === '' || (Array.isArray(value) && value.length === 0);
}
