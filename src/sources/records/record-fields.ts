import { isJsonObject, JsonNumber, type JsonValue } from '../../kit/text/json-text.ts';

/**
 * Returns the value at a place of an answer: keys joined by dots, an empty text for the whole. Undefined for a missing
 * value and for null.
 */
export function valueAt(value: JsonValue | undefined, place: string): JsonValue | undefined {
  let at: JsonValue | undefined = value;
  for (const key of place === '' ? [] : place.split('.')) {
    if (Array.isArray(at)) at = at[Number(key)];
    else if (isJsonObject(at) && Object.hasOwn(at, key)) at = at[key];
    else return undefined;
  }
  return at === null ? undefined : at;
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

/** A record of a network, read by places. */
export class NetworkRecord {
  readonly value: JsonValue;

  constructor(value: JsonValue) {
    this.value = value;
  }

  at(place: string): JsonValue | undefined {
    return valueAt(this.value, place);
  }

  /** Returns the trimmed text; undefined where it is empty or no text. */
  text(place: string): string | undefined {
    const text = scalarText(this.at(place))?.trim();
    return text === '' ? undefined : text;
  }

  /** Returns the text of the first place that has one. */
  firstText(...places: string[]): string | undefined {
    for (const place of places) {
      const text = this.text(place);
      if (text !== undefined) return text;
    }
    return undefined;
  }

  /** True for `true`, 1 and `1`. */
  flag(place: string): boolean {
    return ['true', '1'].includes(this.text(place)?.toLowerCase() ?? '');
  }

  records(place: string): NetworkRecord[] {
    return membersOf(this.at(place)).map((member) => new NetworkRecord(member));
  }

  /** Returns the keys of a map, such as country codes; none for a list. */
  keys(place: string): string[] {
    const value = this.at(place);
    return isJsonObject(value) ? Object.keys(value) : [];
  }

  /** Returns the texts of a list, or the parts of a text with commas. */
  texts(place: string): string[] {
    const value = this.at(place);
    const parts =
      typeof value === 'string' ? value.split(',') : membersOf(value).map((member) => scalarText(member) ?? '');
    return parts.map((part) => part.trim()).filter((part) => part !== '');
  }

  /** Returns a limit; 0 and a million and more stand for none. */
  cap(place: string): string | undefined {
    const text = this.text(place);
    const amount = text === undefined ? Number.NaN : Number(text);
    return amount > 0 && amount < 1_000_000 ? String(Math.floor(amount)) : undefined;
  }
}
