import { jsonText, type JsonValue } from '../../text/json-text.ts';
import {
  targetCountries,
  targetCountriesByAll,
  targetDevices,
  targetDevicesByAll,
  type Targeted,
} from '../../vocabulary/targeting.ts';
import { noneReader, unread, valueConverter, type Converted } from './convert-value.ts';
import { withElse, type FieldMapping } from './field-schema.ts';
import { compareDecimals, plainDecimal } from './numbers.ts';
import { scalarText, valueAt } from './places.ts';
import { findValue, memberReader, valuesAt, type Members } from './read-members.ts';
import type { Reading } from './reading.ts';
import { rowFilter, wordOf } from './rows.ts';

/** Reads one field of ours in a record of theirs; undefined where it is absent. */
export type ReadField = (record: JsonValue, reading: Reading) => JsonValue | undefined;

/** Makes the reader of a field with one value. */
export function valueField(name: string, field: FieldMapping): ReadField {
  return firstThatHolds(field, (each) => oneValueField(name, each));
}

/** Makes the reader of a field with a list. */
export function listField(name: string, field: FieldMapping): ReadField {
  return firstThatHolds(field, (each) => ownListField(name, each));
}

/** Makes the reader of a field: of the first rule, its own or of `else`, whose `when` holds and that has a value. */
function firstThatHolds(field: FieldMapping, make: (field: FieldMapping) => ReadField): ReadField {
  const [own, ...others] = withElse(field).map((each): ReadField => {
    const [read, counts] = [make(each), rowFilter(each.when)];
    return each.when === undefined ? read : (record, reading) => (counts(record) ? read(record, reading) : undefined);
  });
  if (others.length === 0) return own as ReadField;
  return (record, reading) => {
    const ranNowhere = reading.runsNowhere;
    for (const read of [own as ReadField, ...others]) {
      const value = read(record, reading);
      // A list that leaves no country or device is not absent, so `else` is not read.
      if (value !== undefined || reading.runsNowhere !== ranNowhere) return value;
    }
    return undefined;
  };
}

function oneValueField(name: string, field: FieldMapping): ReadField {
  if (field.lowest) return lowestField(name, field);
  if (field.first) return firstField(name, field);
  if (field.join !== undefined) return joinedField(name, field, field.join);
  const { at } = field;
  if (at === undefined) return () => field.value as JsonValue | undefined;
  const read = foundValueConverter(name, field);
  const isNone = noneReader(field);
  return (record, reading) => {
    const { value, place } = findValue(record, at, isNone);
    return read(value, reading, place);
  };
}

/** Makes the converter of a field's value: an absent one becomes the constant, an unreadable one `unread`. */
export function foundValueConverter(
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
      if ('leftOut' in converted || ('value' in converted && converted.value === undefined)) continue;
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

/** Makes the reader of the first member of a list that has a value. */
function firstField(name: string, field: FieldMapping): ReadField {
  const members = memberReader(field);
  const isNone = noneReader(field);
  const read = foundValueConverter(name, field);
  return (record, reading) => {
    const { values, place } = members(record);
    return read(
      values.find((value) => !isNone(value)),
      reading,
      place,
    );
  };
}

/** Makes the reader of a text that is put together of several; a time is read in the whole, not in its parts. */
function joinedField(name: string, field: FieldMapping, between: string): ReadField {
  const { time, zone, ...ofParts } = field;
  const { at = [], each, value: constant } = field;
  const members = each === undefined ? (record: JsonValue) => valuesAt(record, at, field.split) : memberReader(field);
  const convert = valueConverter(ofParts);
  const readWhole = foundValueConverter(name, { time, zone, value: constant });
  return (record, reading) => {
    const { values, place } = members(record);
    const texts: string[] = [];
    for (const value of values) {
      const converted = convert(value);
      if ('leftOut' in converted || ('value' in converted && converted.value === undefined)) continue;
      const text = 'value' in converted ? scalarText(converted.value) : undefined;
      if (text === undefined) {
        const problem = 'problem' in converted ? converted.problem : 'has a part that is no text';
        reading.note({ field: name, place, problem });
        return unread(values);
      }
      texts.push(text);
    }
    return readWhole(texts.length === 0 ? undefined : texts.join(between), reading, place);
  };
}

/**
 * A list of which nothing can be read, or nothing is left, is never an empty one: of countries and devices that would
 * mean all.
 */
function ownListField(name: string, field: FieldMapping): ReadField {
  const constant = field.value as JsonValue | undefined;
  if (field.at === undefined && field.each === undefined) return () => constant;
  const { within } = field;
  const rules = [ruleReader(field), ...(within === undefined ? [] : [ruleReader(inFormOf(field, within))])];
  return (record, reading) => {
    const read = rules.map((rule) => rule(record));
    const faulty = read.find((rule) => 'problem' in rule);
    if (faulty !== undefined) {
      reading.note({ field: name, place: faulty.place, problem: faulty.problem });
      return unread(valueAt(record, faulty.place));
    }
    const left = remaining(name, read as ListRule[]);
    for (const warning of left.warnings) reading.warnings.add(warning);
    if ('nothing' in left) {
      reading.runsNowhere ||= name === 'countries' || name === 'devices';
      return undefined;
    }
    return left.values.length === 0 ? constant : left.values;
  };
}

/** What a list allows and denies. */
interface ListRule {
  allowed: JsonValue[];
  denied: JsonValue[];
  /** The list has members, and none of them counts. */
  isEmptied: boolean;
}

interface ConvertedList {
  values: JsonValue[];
  /** Some members were left out by a word. */
  wasLeftOut: boolean;
}

interface ListProblem {
  problem: string;
  place: string;
}

function ruleReader(field: FieldMapping): (record: JsonValue) => ListRule | ListProblem {
  const members = memberReader(field);
  const convert = valueConverter(field);
  const { except } = field;
  const denied = except === undefined ? undefined : deniedReader(inFormOf(field, except));
  return (record) => {
    const found = members(record);
    const read = convertAll(found, convert, false);
    const without = denied?.(record) ?? { values: [] };
    if ('problem' in read) return read;
    if ('problem' in without) return without;
    const { values, wasLeftOut } = read;
    const isEmptied = values.length === 0 && (wasLeftOut || (found.isEmptied === true && denied === undefined));
    return { allowed: values, denied: without.values, isEmptied };
  };
}

/** Returns the mapping of an `except` or `within` list: a place takes the rules of `field`, an object has its own. */
function inFormOf(field: FieldMapping, list: NonNullable<FieldMapping['within']>): FieldMapping {
  if (typeof list !== 'string') return list;
  const { except: _, within: __, ...form } = field;
  return { ...form, ...(field.each === undefined ? { at: [list] } : { each: list }) };
}

function deniedReader(list: FieldMapping): (record: JsonValue) => ConvertedList | ListProblem {
  const members = memberReader(list);
  const convert = valueConverter(list);
  return (record) => convertAll(members(record), convert, true);
}

/** `needsAll`: a member without a value is a problem too, since one that is denied must not get lost. */
function convertAll(
  { values, place, lacking }: Members,
  convert: (value: JsonValue) => Converted,
  needsAll: boolean,
): ConvertedList | ListProblem {
  if (lacking > 0 && (needsAll || values.length === 0))
    return { place, problem: `has ${lacking} of ${lacking + values.length} members without a value` };
  const list: ConvertedList = { values: [], wasLeftOut: false };
  for (const value of values) {
    const converted = convert(value);
    if ('problem' in converted) return { place, problem: converted.problem };
    if ('leftOut' in converted) list.wasLeftOut = true;
    else if (converted.value !== undefined) list.values.push(converted.value);
  }
  return list;
}

type Remaining = { values: JsonValue[]; warnings: readonly string[] } | Exclude<Targeted, { values: string[] }>;

/** What the rules leave; all of them have to hold. */
function remaining(name: string, rules: readonly ListRule[]): Remaining {
  if (rules.some(({ isEmptied }) => isEmptied)) return { nothing: true, warnings: [] };
  const [{ allowed, denied } = { allowed: [], denied: [] }, ...others] = rules;
  if (others.length === 0 && denied.length === 0) return { values: allowed, warnings: [] };
  const texts = rules.map((rule) => ({ allowed: rule.allowed.map(textOf), denied: rule.denied.map(textOf) }));
  const [{ allowed: words, denied: without } = { allowed: [], denied: [] }] = texts;
  if (name === 'countries') return others.length === 0 ? targetCountries(words, without) : targetCountriesByAll(texts);
  if (name === 'devices') return others.length === 0 ? targetDevices(words, without) : targetDevicesByAll(texts);
  return { values: valuesLeft(rules), warnings: [] };
}

/** Values that every allow list has, an empty list allowing all, without the denied ones. */
function valuesLeft(rules: readonly ListRule[]): JsonValue[] {
  const wordIn = (value: JsonValue) => wordOf(textOf(value));
  const [first = [], ...others] = rules.map(({ allowed }) => allowed).filter((list) => list.length > 0);
  const within = others.map((list) => new Set(list.map(wordIn)));
  const without = new Set(rules.flatMap(({ denied }) => denied.map(wordIn)));
  return first.filter((value) => !without.has(wordIn(value)) && within.every((list) => list.has(wordIn(value))));
}

/** Returns a member's text; a list or object as JSON, which landing does not know as a word. */
function textOf(value: JsonValue): string {
  return scalarText(value) ?? jsonText(value);
}
