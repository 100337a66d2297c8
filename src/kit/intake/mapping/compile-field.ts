import type { JsonValue } from '../../text/json-text.ts';
import { targetCountries, targetDevices, type Targeted } from '../../vocabulary/targeting.ts';
import { unread, valueConverter, type Converted } from './convert-value.ts';
import type { FieldMapping } from './field-schema.ts';
import { compareDecimals, plainDecimal } from './numbers.ts';
import { scalarText, valueAt } from './places.ts';
import { findValue, memberReader, type Members } from './read-members.ts';
import type { Reading } from './reading.ts';
import { wordOf } from './rows.ts';

/** Reads one field of ours in a record of theirs; undefined where it is absent. */
export type ReadField = (record: JsonValue, reading: Reading) => JsonValue | undefined;

/** Makes the reader of a field with one value. */
export function valueField(name: string, field: FieldMapping): ReadField {
  if (field.lowest) return lowestField(name, field);
  const { at } = field;
  if (at === undefined) return () => field.value as JsonValue | undefined;
  const read = foundValue(name, field);
  return (record, reading) => {
    const { value, place } = findValue(record, at);
    return read(value, reading, place);
  };
}

/** Makes the reader of what a field's first place with a value has, undefined where none has. */
export function foundValue(
  name: string,
  field: FieldMapping,
): (value: JsonValue | undefined, reading: Reading, place: string) => JsonValue | undefined {
  const constant = field.value as JsonValue | undefined;
  const convert = valueConverter(field);
  return (value, reading, place) => {
    const converted = convert(value);
    if ('value' in converted) return converted.value ?? constant;
    if ('leftOut' in converted) reading.isPassedOver = true;
    else reading.note({ field: name, place, problem: converted.problem });
    return unread(value);
  };
}

/** Makes the reader of the lowest of several amounts. One that is no number could be the lowest: then none is taken. */
function lowestField(name: string, field: FieldMapping): ReadField {
  const members = memberReader(field);
  const convert = valueConverter(field);
  return (record, reading) => {
    const { values, place } = members(record);
    const amounts: string[] = [];
    for (const value of values) {
      const converted = convert(value);
      if ('leftOut' in converted) continue;
      const amount = 'value' in converted ? scalarText(converted.value) : undefined;
      if (amount === undefined || plainDecimal(amount) === undefined) {
        const problem = 'problem' in converted ? converted.problem : 'has an amount that is no number';
        reading.note({ field: name, place, problem });
        return unread(values);
      }
      amounts.push(amount);
    }
    const [lowest, ...others] = amounts.toSorted(compareDecimals);
    if (lowest === undefined) return field.value as JsonValue | undefined;
    if (others.some((amount) => compareDecimals(amount, lowest) !== 0))
      reading.warnings.add('payout_differs_by_target');
    return lowest;
  };
}

/**
 * Makes the reader of a field with a list. A list of which nothing can be read, or nothing is left, is never an empty
 * one: of countries and devices that would mean all.
 */
export function listField(name: string, field: FieldMapping): ReadField {
  const constant = field.value as JsonValue | undefined;
  if (field.at === undefined && field.each === undefined) return () => constant;
  const allowed = memberReader(field);
  const convert = valueConverter(field);
  const denied = field.except === undefined ? undefined : deniedReader(field, field.except);
  return (record, reading) => {
    const members = allowed(record);
    const read = convertAll(members, convert, false);
    const without = denied?.(record) ?? { values: [], place: '', wasLeftOut: false };
    const faulty = [read, without].find((list) => 'problem' in list);
    if (faulty !== undefined && 'problem' in faulty) {
      reading.note({ field: name, place: faulty.place, problem: faulty.problem });
      return unread(valueAt(record, faulty.place));
    }
    const { values, wasLeftOut } = read as ConvertedList;
    const isEmptied = values.length === 0 && (wasLeftOut || (members.isEmptied === true && denied === undefined));
    const left = isEmptied
      ? ({ nothing: true, warnings: [] } as const)
      : remaining(name, values, (without as ConvertedList).values);
    for (const warning of left.warnings) reading.warnings.add(warning);
    if ('nothing' in left) {
      reading.runsNowhere ||= name === 'countries' || name === 'devices';
      return undefined;
    }
    return left.values.length === 0 ? constant : left.values;
  };
}

interface ConvertedList {
  values: JsonValue[];
  place: string;
  /** Some members were left out by a word. */
  wasLeftOut: boolean;
}

type ReadList = ConvertedList | { problem: string; place: string };

/** Makes the reader of a deny list. A place is that of a list in the form of the allowed one. */
function deniedReader(
  field: FieldMapping,
  except: NonNullable<FieldMapping['except']>,
): (record: JsonValue) => ReadList {
  const ofItsForm = field.each === undefined ? { at: [except as string] } : { each: except as string };
  const list: FieldMapping = typeof except === 'string' ? { ...field, ...ofItsForm } : except;
  const members = memberReader(list);
  const convert = valueConverter(list);
  return (record) => convertAll(members(record), convert, true);
}

/** `needsAll`: a member without a value is a problem too, since one that is denied must not get lost. */
function convertAll(
  { values, place, lacking }: Members,
  convert: (value: JsonValue) => Converted,
  needsAll: boolean,
): ReadList {
  if (lacking > 0 && (needsAll || values.length === 0))
    return { place, problem: `has ${lacking} of ${lacking + values.length} members without a value` };
  const list: ConvertedList = { values: [], place, wasLeftOut: false };
  for (const value of values) {
    const converted = convert(value);
    if ('problem' in converted) return { place, problem: converted.problem };
    if ('leftOut' in converted) list.wasLeftOut = true;
    else if (converted.value !== undefined) list.values.push(converted.value);
  }
  return list;
}

type Remaining = { values: JsonValue[]; warnings: readonly string[] } | Exclude<Targeted, { values: string[] }>;

function remaining(name: string, allowed: JsonValue[], denied: readonly JsonValue[]): Remaining {
  if (denied.length === 0) return { values: allowed, warnings: [] };
  const [texts, without] = [allowed.map(textOf), denied.map(textOf)];
  if (name === 'countries') return targetCountries(texts, without);
  if (name === 'devices') return targetDevices(texts, without);
  const words = new Set(without.map(wordOf));
  return { values: allowed.filter((value) => !words.has(wordOf(textOf(value)))), warnings: [] };
}

function textOf(value: JsonValue): string {
  return scalarText(value) ?? '';
}
