import { isJsonObject, JsonNumber, type JsonObject, type JsonValue } from '../../text/json-text.ts';

/**
 * Returns the value at a place of a record: keys joined by dots, an empty text for the whole. A key that itself has
 * dots, as columns of flattened exports have, wins over the same dots as a path. Undefined for a missing value and for
 * null.
 */
export function valueAt(value: JsonValue | undefined, place: string): JsonValue | undefined {
  let at = value;
  let rest = place === '' ? undefined : place;
  while (rest !== undefined) {
    const key = nextKey(at, rest);
    if (key === undefined) return undefined;
    at = Array.isArray(at) ? at[Number(key)] : (at as JsonObject)[key];
    rest = key.length === rest.length ? undefined : rest.slice(key.length + 1);
  }
  return at ?? undefined;
}

/**
 * Returns whether a record has a place, be it without a value. Where a part of it is null or has no members nobody
 * knows whether the rest would be there, which counts as if it was.
 */
export function hasPlace(value: JsonValue, place: string): boolean {
  let at: JsonValue | undefined = value;
  let rest = place === '' ? undefined : place;
  while (rest !== undefined) {
    const key = nextKey(at, rest);
    if (key === undefined) return at === undefined || at === null || (isJsonObject(at) && Object.keys(at).length === 0);
    at = Array.isArray(at) ? at[Number(key)] : (at as JsonObject)[key];
    rest = key.length === rest.length ? undefined : rest.slice(key.length + 1);
  }
  return true;
}

/** Returns the keys of a record that a place may begin with: all of it, where a key has dots, or its first part. */
export function keysAbove(place: string): string[] {
  const [first = place] = place.split('.', 1);
  return [place, first];
}

/** Returns the longest beginning of a path, cut at a dot, that is a key of the value. */
function nextKey(value: JsonValue | undefined, path: string): string | undefined {
  if (Array.isArray(value)) return path.split('.', 1)[0];
  if (!isJsonObject(value)) return undefined;
  let key = path;
  while (!Object.hasOwn(value, key)) {
    const dot = key.lastIndexOf('.');
    if (dot === -1) return undefined;
    key = key.slice(0, dot);
  }
  return key;
}

/** Returns a text, number or truth value as text; undefined for everything else. */
export function scalarText(value: JsonValue | undefined): string | undefined {
  if (value instanceof JsonNumber) return value.text;
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'string' ? value : undefined;
}

/** Returns the members of a list, or of a map in its place; none for every other value. */
export function membersOf(value: JsonValue | undefined): JsonValue[] {
  if (Array.isArray(value)) return value;
  return isJsonObject(value) ? Object.values(value) : [];
}
