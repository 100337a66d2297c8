import type { JsonValue } from '../../text/json-text.ts';
import { membersOf, scalarText, valueAt } from './places.ts';
import type { Condition } from './rows-schema.ts';

/** Compares as words are compared: trimmed and without case. An absent value is the empty word. */
export function wordOf(value: string | number | boolean | null | undefined): string {
  return String(value ?? '')
    .trim()
    .toLowerCase();
}

/**
 * Makes the check whether a record counts: all conditions have to hold. A list or an object is no word; without members
 * it is absent.
 */
export function rowFilter(conditions: readonly Condition[] = []): (record: JsonValue) => boolean {
  const checks = conditions.map(({ at, is, not }) => {
    const words = new Set((is ?? not ?? []).map(wordOf));
    return (record: JsonValue) => {
      const value = valueAt(record, at);
      const isNamed = membersOf(value).length === 0 && words.has(wordOf(scalarText(value)));
      return isNamed === (is !== undefined);
    };
  });
  return (record) => checks.every((holds) => holds(record));
}
