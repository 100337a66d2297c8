import { isJsonObject, type JsonValue } from '../../text/json-text.ts';
import { isAbsent } from './convert-value.ts';
import { membersOf, scalarText, valueAt } from './places.ts';
import { rowFilter, wordOf } from './rows.ts';
import type { Condition } from './rows-schema.ts';

/** Place of a list. */
interface ListPlaces {
  at?: readonly string[] | undefined;
  all?: true | undefined;
  each?: string | undefined;
  keys?: true | undefined;
  rows?: readonly Condition[] | undefined;
  split?: string | undefined;
}

/** The members of a list in a record. */
export interface Members {
  values: JsonValue[];
  /** Place of the list. */
  place: string;
  /** Number of members without a value at the place that the mapping names; an empty list counts as a value. */
  lacking: number;
  /** A map has members, and none of them counts. */
  isEmptied?: boolean;
}

/** Returns the first place that has a value, and the value; `isNone` says which values are none. */
export function findValue(
  record: JsonValue,
  places: readonly string[],
  isNone: (value: JsonValue | undefined) => boolean = isAbsent,
): { value: JsonValue | undefined; place: string } {
  for (const place of places) {
    const value = valueAt(record, place);
    if (!isNone(value) && value !== undefined) return { value, place };
  }
  return { value: undefined, place: places[0] ?? '' };
}

/** Returns the values of all places, with the members of lists. */
export function valuesAt(record: JsonValue, places: readonly string[], split: string | undefined): Members {
  const found = places.map((at) => valueAt(record, at)).filter((value) => value !== undefined);
  return { values: partsOf(found, split), place: places[0] ?? '', lacking: 0 };
}

/**
 * Makes the reader of the objects of a list or map. XML and some exports write a list of one as its only member: an
 * object that itself has a value at one of `places` is that member.
 */
export function objectReader(
  each: string,
  places: readonly string[],
  rows: readonly Condition[] | undefined,
): (record: JsonValue) => JsonValue[] {
  const counts = rowFilter(rows);
  return (record) => {
    const list = valueAt(record, each);
    const isMember = isJsonObject(list) ? memberValue(list, places) !== undefined : !Array.isArray(list);
    const members = isMember ? [list] : membersOf(list);
    return members.filter((member): member is JsonValue => !isAbsent(member)).filter(counts);
  };
}

/**
 * Makes the reader of a list: of the objects of `each`, of a list or map of values, or of one text that `split` cuts.
 */
export function memberReader({ at, all, each, keys, rows, split }: ListPlaces): (record: JsonValue) => Members {
  if (each === undefined) {
    if (all) return (record) => valuesAt(record, at ?? [], split);
    return (record) => {
      const { value, place } = findValue(record, at ?? ['']);
      return { values: isAbsent(value) ? [] : partsOf([value], split), place, lacking: 0 };
    };
  }
  if (keys) return nameReader(each, rows, split);
  const places = at ?? [''];
  const objects = objectReader(each, at ?? [], rows);
  return (record) => {
    const found = objects(record).map((member) => memberValue(member, places));
    const values = found.filter((value) => value !== undefined);
    return { values: partsOf(values, split), place: each, lacking: found.length - values.length };
  };
}

/** Makes the reader of the names in a map; a list, which some write for an empty map, or a text has its own members. */
function nameReader(each: string, rows: readonly Condition[] | undefined, split: string | undefined) {
  const counts = rowFilter(rows);
  return (record: JsonValue): Members => {
    const map = valueAt(record, each);
    if (!isJsonObject(map)) return { values: isAbsent(map) ? [] : partsOf([map], split), place: each, lacking: 0 };
    const members = Object.entries(map);
    const names = members.filter(([, member]) => !isOff(member) && counts(member)).map(([name]) => name);
    return {
      values: partsOf(names, split),
      place: each,
      lacking: 0,
      isEmptied: members.length > 0 && names.length === 0,
    };
  };
}

function isOff(member: JsonValue): boolean {
  return isAbsent(member) || ['false', '0'].includes(wordOf(scalarText(member)));
}

/** Returns the value of a member. An empty list says that there is nothing, which a missing value does not say. */
function memberValue(member: JsonValue, places: readonly string[]): JsonValue | undefined {
  const { value } = findValue(member, places);
  if (value !== undefined) return value;
  return places.some((place) => Array.isArray(valueAt(member, place))) ? [] : undefined;
}

/** Lists within the list become its members, and texts their parts. */
function partsOf(values: readonly JsonValue[], split: string | undefined): JsonValue[] {
  return values
    .flatMap((value) => (Array.isArray(value) || isJsonObject(value) ? membersOf(value) : [value]))
    .flatMap((value) => (split === undefined || typeof value !== 'string' ? [value] : value.split(split)))
    .map((value) => (split !== undefined && typeof value === 'string' ? value.trim() : value))
    .filter((value) => !isAbsent(value));
}
