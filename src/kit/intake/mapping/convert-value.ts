import { isJsonObject, JsonNumber, type JsonObject, type JsonValue } from '../../text/json-text.ts';
import type { FieldMapping } from './field-schema.ts';
import { plainText } from './html.ts';
import { compareDecimals, NumberReader } from './numbers.ts';
import { scalarText } from './places.ts';
import { storeSystem } from './store-system.ts';
import { wordOf } from './rows.ts';
import { timeReader, type TimeReader } from './times.ts';

/** A value in our form; `undefined` is an absent one. `leftOut`: a word says that it does not count. */
export type Converted = { value: JsonValue | undefined } | { leftOut: true } | { problem: string };

/** Characters of a value that a problem quotes. */
const maxQuoted = 80;

/** Makes the function that brings a value of theirs into our form: text, then words, then a number or a time. */
export function valueConverter(field: FieldMapping): (value: JsonValue | undefined) => Converted {
  const words = wordReader(field);
  const read = scalarReader(field);
  const standsForNone = noneReader(field);
  return (written) => {
    const given = standsForNone(written) ? undefined : written;
    const value = changesText(field) ? mapTexts(given, (text) => changedText(text, field)) : given;
    const meaning = words?.(value);
    if (meaning !== undefined) return meaning === null ? { leftOut: true } : { value: meaning };
    return isAbsent(value) || read === undefined ? { value: isAbsent(value) ? undefined : value } : read(value);
  };
}

/** True for a missing value, null, blank text and an empty list. */
export function isAbsent(value: JsonValue | undefined): value is undefined | null | '' {
  if (typeof value === 'string') return value.trim() === '';
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

/** Makes the check for values that are absent, or stand for none in this field. */
export function noneReader({ none }: Pick<FieldMapping, 'none'>): (value: JsonValue | undefined) => boolean {
  if (none === undefined) return isAbsent;
  const words = new Set(none.map(wordOf));
  const numbers = none.filter((value) => typeof value === 'number').map(String);
  return (value) => {
    const text = scalarText(value);
    if (isAbsent(value) || text === undefined) return isAbsent(value);
    return words.has(wordOf(text)) || numbers.some((number) => compareDecimals(text, number) === 0);
  };
}

/**
 * The form in which a value goes on that the mapping could not read. Text alone might still be a number or a time of
 * ours, such as `1.234` where the point separates thousands; landing rejects this one in any field.
 */
export function unread(value: JsonValue | undefined): JsonObject {
  return { unread: value ?? null };
}

/** Quotes a value for a problem. */
export function quotedValue(value: JsonValue | undefined): string {
  const text = scalarText(value);
  if (text === undefined) return Array.isArray(value) ? 'a list' : 'an object';
  return `"${text.length > maxQuoted ? `${text.slice(0, maxQuoted)}…` : text}"`;
}

/** Our word for a value, null where it is to be left out, undefined where the value has no other meaning. */
function wordReader({
  words,
}: FieldMapping): ((value: JsonValue | undefined) => string | null | undefined) | undefined {
  if (words === undefined) return undefined;
  const meanings = new Map(Object.entries(words).map(([word, ours]) => [wordOf(word), ours]));
  const rest = meanings.get('*');
  return (value) => {
    const text = isAbsent(value) ? '' : scalarText(value);
    if (text === undefined) return undefined;
    const meaning = meanings.get(wordOf(text));
    // The rest are other words; a value that is absent has to be named.
    return meaning === undefined && text !== '' ? rest : meaning;
  };
}

function scalarReader({ number, time, zone }: FieldMapping): ((value: JsonValue) => Converted) | undefined {
  if (number !== undefined) {
    const reader = new NumberReader(number);
    return (value) => {
      const read = typeof value === 'string' || value instanceof JsonNumber ? reader.read(value) : undefined;
      return read === undefined ? { problem: `${quotedValue(value)} is no number as "number" says` } : { value: read };
    };
  }
  if (time === undefined && zone === undefined) return undefined;
  const read = firstTime(time, zone);
  const form = time === undefined ? 'a time as ours are' : `a time as "${time.join('" or "')}" says`;
  return (value) => {
    const text = scalarText(value);
    const moment = text === undefined ? undefined : read(text);
    return moment === undefined ? { problem: `${quotedValue(value)} is not ${form}` } : { value: moment };
  };
}

function firstTime(times: readonly string[] | undefined, zone: string | undefined): TimeReader {
  const readers = (times ?? [undefined]).map((time) => timeReader(time, zone));
  return (text) => {
    for (const read of readers) {
      const moment = read(text);
      if (moment !== undefined) return moment;
    }
    return undefined;
  };
}

/** What a text is, and the text that it becomes. */
const textForms = { html: plainText, store: storeSystem };

function changesText({ text, line, lower, upper, trim }: FieldMapping): boolean {
  return (text ?? line ?? lower ?? upper ?? trim) !== undefined;
}

function changedText(text: string, { text: form, line, lower, upper, trim }: FieldMapping): string {
  let changed = form === undefined ? text : (textForms[form](text) ?? '');
  // Blanks are taken whole: a pattern that looks for the line end within them begins anew at each.
  if (line) changed = changed.replaceAll(/\s+/g, (blanks) => (/[\n\r]/.test(blanks) ? ' ' : blanks));
  if (trim) changed = changed.trim();
  if (lower) changed = changed.toLowerCase();
  return upper ? changed.toUpperCase() : changed;
}

/** Changes a text, and each of a map of texts by language. */
function mapTexts(value: JsonValue | undefined, change: (text: string) => string): JsonValue | undefined {
  if (typeof value === 'string') return change(value);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, text]) => [key, typeof text === 'string' ? change(text) : text]),
  );
}
