import { membersOf, scalarText, valueAt } from '../../kit/intake/mapping/places.ts';
import { plainText } from '../../kit/intake/mapping/html.ts';
import { jsonId } from '../../kit/text/json-id.ts';
import { isJsonObject, jsonText, type JsonValue } from '../../kit/text/json-text.ts';

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

  /** Returns the trimmed id, a whole number as its digits; undefined where it is empty or no id. */
  id(place: string): string | undefined {
    return jsonId(this.at(place))?.trim() || undefined;
  }

  /** Returns the text of the first place that has one. */
  firstText(...places: string[]): string | undefined {
    for (const place of places) {
      const text = this.text(place);
      if (text !== undefined) return text;
    }
    return undefined;
  }

  /** Returns the text of the first place that has one, on one line, with entities and tags made plain. */
  title(...places: string[]): string | undefined {
    return plainText(this.firstText(...places))?.replaceAll('\n', ' ');
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

  /** Returns the members of a list, or the parts of a text with commas in its place. */
  members(place: string): NetworkRecord[] {
    const isText = scalarText(this.at(place)) !== undefined;
    return isText ? this.texts(place).map((part) => new NetworkRecord(part)) : this.records(place);
  }

  /**
   * Returns the word that a member of a targeting list is, or has at one of the places. A member that has none goes on
   * as its JSON text, which landing refuses: a rule that is not understood must not come to mean everywhere.
   */
  word(...places: string[]): string {
    return this.firstText(...places, '') ?? jsonText(this.value);
  }

  /** Returns the words of a targeting list. */
  words(place: string): string[] {
    return this.members(place).map((member) => member.word());
  }

  /** Returns a limit; 0 and a million and more stand for none. */
  cap(place: string): string | undefined {
    const text = this.text(place);
    const amount = text === undefined ? Number.NaN : Number(text);
    return amount > 0 && amount < 1_000_000 ? String(Math.floor(amount)) : undefined;
  }
}
