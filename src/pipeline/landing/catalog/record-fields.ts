import { jsonId } from '../../../kit/text/json-id.ts';
import { looksRounded, roundedId } from '../../../kit/text/rounded-id.ts';
import { copied } from '../../../kit/text/kept-text.ts';
import { isJsonObject, JsonNumber, parseJson, type JsonObject, type JsonValue } from '../../../kit/text/json-text.ts';
import { maxMembers, maxRecordCharacters, maxTextCharacters } from '../../../kit/vocabulary/offer-bounds.ts';
import type { IngestWarning } from '../landing-file.ts';

/** Databases write so what is absent. */
const absentText = String.raw`\N`;

/** Warnings of a text that is cut, and of a list whose further members are left out. */
const tooLong = 'too_long';
export const tooMany = 'too_many';

/** The record cannot be taken; `reason` is the code that the rejects keep. */
export class RecordReject extends Error {
  readonly reason: string;
  constructor(reason: string) {
    super(reason);
    this.reason = reason;
  }
}

/**
 * The fields of one record. Descriptive values that make no sense are dropped with a warning, and too long ones cut;
 * identifiers are never guessed and throw `RecordReject`. Null and `\\N` count as absent, in text cells empty text too.
 */
export class RecordFields {
  readonly textCells: boolean;
  readonly #record: JsonObject;
  /** Shared with the fields of objects within the record. */
  readonly #ofRecord: { warned: Map<string, IngestWarning>; charactersLeft: number };
  /** Put before names in warnings, such as `events.`. */
  readonly #prefix: string;

  constructor(record: JsonObject, textCells: boolean, parent?: { of: RecordFields; prefix: string }) {
    this.textCells = textCells;
    this.#record = record;
    this.#ofRecord = parent ? parent.of.#ofRecord : { warned: new Map(), charactersLeft: maxRecordCharacters };
    this.#prefix = parent?.prefix ?? '';
  }

  get warnings(): IngestWarning[] {
    return [...this.#ofRecord.warned.values()];
  }

  /** Counted once per record and field, however many of its parts were dropped. */
  warn(warning: string, field: string): void {
    const full = this.#prefix + field;
    this.#ofRecord.warned.set(`${warning} ${full}`, { warning, field: full });
  }

  warnOfUnknown(known: ReadonlySet<string>): void {
    for (const name of Object.keys(this.#record)) if (!known.has(name)) this.warn('unknown_field', name);
  }

  value(name: string): JsonValue | undefined {
    const value = Object.hasOwn(this.#record, name) ? this.#record[name] : undefined;
    return value === null ||
      value === absentText ||
      (this.textCells && typeof value === 'string' && value.trim() === '')
      ? undefined
      : value;
  }

  /** Text or a number as it was written; null for values of other kinds. */
  scalar(name: string): string | null | undefined {
    const value = this.value(name);
    return value === undefined ? undefined : scalarText(value);
  }

  /** As `scalar`, but of a number only the integer that was meant; null where nobody can know it. */
  name(name: string): string | null | undefined {
    const value = this.value(name);
    return value === undefined ? undefined : jsonId(value);
  }

  /** 1–256 characters kept as they are, without control characters. */
  identifier(name: string): string {
    const text = this.name(name);
    if (text === undefined) throw new RecordReject(`missing_${name}`);
    if (!isIdentifier(text)) throw new RecordReject(`bad_${name}`);
    if (looksRounded(text)) this.warn(roundedId, name);
    return text;
  }

  /** A descriptive text, trimmed and cut; undefined where it is absent or makes no sense. */
  freeText(name: string): string | undefined {
    const text = this.#clean(name, () => true);
    return text === undefined ? undefined : this.cut(name, text) || undefined;
  }

  /** A text that counts whole or not at all, trimmed; undefined where it is absent, too long or makes no sense. */
  text(name: string, makesSense: (text: string) => boolean = () => true): string | undefined {
    return this.#clean(name, (text) => text.length <= maxTextCharacters && makesSense(text));
  }

  /**
   * The beginning of a descriptive text within the bounds, without half a surrogate; with a warning where it is cut.
   * Empty where the record has no characters left.
   */
  cut(name: string, text: string): string {
    const most = Math.max(0, Math.min(maxTextCharacters, this.#ofRecord.charactersLeft));
    let kept = text;
    if (text.length > most) {
      this.warn(tooLong, name);
      const beginning = text.slice(0, most);
      // A mere slice would keep the whole text in memory.
      kept = copied(beginning.isWellFormed() ? beginning : beginning.slice(0, -1)).trimEnd();
    }
    this.#ofRecord.charactersLeft -= kept.length;
    return kept;
  }

  #clean(name: string, makesSense: (text: string) => boolean): string | undefined {
    const text = this.scalar(name);
    if (text === undefined) return undefined;
    const clean = text === null ? '' : cleanText(text);
    if (clean !== '' && makesSense(clean)) return clean;
    if (text === null || text !== '') this.warn(`bad_${name}`, name);
    return undefined;
  }

  /** One of the choices, whatever its case and separators. */
  choice<Choice extends string>(name: string, choices: readonly Choice[]): Choice | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const choice = matchChoice(text, choices);
    if (choice === undefined) this.warn(`bad_${name}`, name);
    return choice;
  }

  /** A whole number in a range; a fraction of zeros is fine, since some writers have only floating point. */
  integer(name: string, lowest: number, highest: number): number | undefined {
    const text = this.text(
      name,
      (each) => /^\d{1,10}(\.0+)?$/.test(each) && Number(each) >= lowest && Number(each) <= highest,
    );
    return text === undefined ? undefined : Number(text);
  }

  flag(name: string): boolean | undefined {
    const value = this.value(name);
    if (value === undefined || typeof value === 'boolean') return value;
    const text = scalarText(value)?.trim().toLowerCase();
    if (text === 'true' || text === '1' || text === 'yes') return true;
    if (text === 'false' || text === '0' || text === 'no') return false;
    this.warn(`bad_${name}`, name);
    return undefined;
  }

  /** The elements of a list or of `a|b|c`; undefined for an element that is no text. */
  list(name: string): (string | undefined)[] {
    const value = this.value(name);
    if (value === undefined || value === '') return [];
    if (Array.isArray(value))
      return value.map((element) => scalarText(element) ?? undefined).map((text) => text && cleanText(text));
    const text = scalarText(value);
    return text === null ? [undefined] : text.split('|').map(cleanText);
  }

  /** A text in one or several languages; undefined where nothing of it makes sense. */
  localized(name: string): Record<string, string> | undefined {
    const value = this.value(name);
    if (value === undefined || value === '') return undefined;
    const map =
      this.textCells && typeof value === 'string' && value.trimStart().startsWith('{') ? parseJson(value) : value;
    if (!isJsonObject(map)) {
      const text = this.freeText(name);
      return text === undefined ? undefined : { en: text };
    }
    const texts: [string, string][] = [];
    for (const [language, inLanguage] of Object.entries(map)) {
      const text = typeof inLanguage === 'string' ? cleanText(inLanguage) : '';
      if (text === '' || !/^[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8}){0,20}$/.test(language)) {
        if (inLanguage !== null) this.warn(`bad_${name}`, name);
        continue;
      }
      if (texts.length === maxMembers) {
        this.warn(tooMany, name);
        break;
      }
      this.#ofRecord.charactersLeft -= language.length;
      const kept = this.cut(name, text);
      if (kept !== '') texts.push([language, kept]);
    }
    return texts.length === 0 ? undefined : Object.fromEntries(texts);
  }
}

export function isIdentifier(text: string | null): text is string {
  return text !== null && text.trim() !== '' && text.length <= 256 && text.isWellFormed() && !/\p{Cc}/u.test(text);
}

export function matchChoice<Choice extends string>(text: string, choices: readonly Choice[]): Choice | undefined {
  const plain = text.toLowerCase().replaceAll(/[\s_-]/g, '');
  return choices.find((choice) => choice.toLowerCase() === plain);
}

function scalarText(value: JsonValue): string | null {
  if (value instanceof JsonNumber) return value.text;
  return typeof value === 'string' ? value : null;
}

/** Trimmed; half surrogates and NUL, which no database text holds faithfully, are replaced and left out. */
function cleanText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '').trim();
}
