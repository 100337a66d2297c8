import { isJsonObject, JsonNumber, type JsonValue } from '../../kit/text/json-text.ts';

/**
 * What stands at a place of an answer: keys joined by dots, an empty text for the whole. Undefined where nothing does,
 * or null.
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

/** A text, number or truth value as text; undefined for everything else. */
export function scalarText(value: JsonValue | undefined): string | undefined {
  if (value instanceof JsonNumber) return value.text;
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'string' ? value : undefined;
}

/** The members of a list, or of a map in its place; `[]`, false, null and an empty text stand for none. */
export function membersOf(value: JsonValue | undefined): JsonValue[] {
  if (Array.isArray(value)) return value;
  return isJsonObject(value) ? Object.values(value) : [];
}

/** One record of a network, read by places. */
export class NetworkRecord {
  readonly value: JsonValue;

  constructor(value: JsonValue) {
    this.value = value;
  }

  at(place: string): JsonValue | undefined {
    return valueAt(this.value, place);
  }

  /** Trimmed; undefined where it is empty or no text. */
  text(place: string): string | undefined {
    const text = scalarText(this.at(place))?.trim();
    return text === '' ? undefined : text;
  }

  /** The first of the places that has a text. */
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

  /** The keys of a map, such as country codes; none for a list. */
  keys(place: string): string[] {
    const value = this.at(place);
    return isJsonObject(value) ? Object.keys(value) : [];
  }

  /** The texts of a list, or the parts of a text with commas. */
  texts(place: string): string[] {
    const value = this.at(place);
    const parts =
      typeof value === 'string' ? value.split(',') : membersOf(value).map((member) => scalarText(member) ?? '');
    return parts.map((part) => part.trim()).filter((part) => part !== '');
  }

  /** A limit of which 0 and a million and more mean that there is none. */
  cap(place: string): string | undefined {
    const text = this.text(place);
    const amount = text === undefined ? Number.NaN : Number(text);
    return amount > 0 && amount < 1_000_000 ? String(Math.floor(amount)) : undefined;
  }
}
