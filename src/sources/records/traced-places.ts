import { isJsonObject, JsonNumber, jsonText, type JsonObject, type JsonValue } from '../../kit/text/json-text.ts';

/** Fields that a record became, by name. */
export type ConvertedRecord = Readonly<Record<string, JsonValue | undefined>>;

/** A place in a network's record; `[]` is each member of a list, or of a map by codes or numbers. */
export interface TracedPlace {
  place: string;
  /** The value there; of a list the values of all members. */
  value: JsonValue;
  /** Fields of ours that another value there would change; none where the place is not used. */
  fields: string[];
}

/** Bounds the conversions of one record: some networks list hundreds of settings with each offer. */
const maxPlaces = 400;

/**
 * Finds which places of a record its conversion uses: each value is replaced by others, and the fields that differ
 * then are those that it goes into. So the same holds for connectors in code and for declared ones.
 */
export function tracedPlaces(record: JsonValue, convert: (record: JsonValue) => ConvertedRecord): TracedPlace[] {
  const before = textsOf(convert(record));
  const traced: TracedPlace[] = [];
  let tried = 0;
  const changedBy = (path: Path, change: Change): string[] => {
    const after = textsOf(convert(replaced(record, path, change) ?? null));
    return [...new Set([...before.keys(), ...after.keys()])].filter((name) => before.get(name) !== after.get(name));
  };
  const visit = (path: Path): Set<string> => {
    const values = valuesAt(record, path);
    const keys = keysBelow(values);
    const below = new Set(keys.flatMap((key) => [...visit([...path, key])]));
    if (path.length === 0 || tried >= maxPlaces) return below;
    tried++;
    const changes = keys.length > 0 ? [absent] : [absent, otherText, otherFlag];
    const own = new Set(changes.flatMap((change) => changedBy(path, change)));
    if (keys.length === 0 || [...own].some((name) => !below.has(name))) {
      const fields = [...own].filter((name) => !below.has(name));
      traced.push({ place: written(path), value: values.length === 1 ? (values[0] ?? null) : values, fields });
    }
    return new Set([...below, ...own]);
  };
  visit([]);
  return traced;
}

/** Keys down to a value; `[]` goes into each member. */
type Path = readonly string[];
const each = '[]';

/** Returns another value; undefined for none. */
type Change = (value: JsonValue) => JsonValue | undefined;

const absent: Change = () => undefined;
const otherText: Change = (value) => {
  if (typeof value === 'string') return `${value}~`;
  if (value instanceof JsonNumber) return new JsonNumber(`1${value.text.replace('-', '')}`);
  return typeof value === 'boolean' ? !value : new JsonNumber('7');
};
const otherFlag: Change = (value) => {
  const text = value instanceof JsonNumber ? value.text : value;
  return text === '1' ? '0' : '1';
};

/** Keys of a map whose members are alike: ids, positions, countries. */
const memberKey = /^(?:\d+|[A-Z]{2})$/;

function isMap(value: JsonObject): boolean {
  const keys = Object.keys(value);
  return keys.length > 0 && keys.every((key) => memberKey.test(key));
}

/** Returns the members of a list or a map; undefined for all other values. */
function membersIn(value: JsonValue): JsonValue[] | undefined {
  if (Array.isArray(value)) return value;
  return isJsonObject(value) && isMap(value) ? Object.values(value) : undefined;
}

function keysBelow(values: readonly JsonValue[]): string[] {
  const keys = values.flatMap((value) => {
    const members = membersIn(value);
    if (members !== undefined) return members.some((member) => isNested(member)) ? [each] : [];
    return isJsonObject(value) ? Object.keys(value) : [];
  });
  return [...new Set(keys)];
}

function isNested(value: JsonValue): boolean {
  return Array.isArray(value) || isJsonObject(value);
}

function valuesAt(value: JsonValue, [key, ...rest]: Path): JsonValue[] {
  if (key === undefined) return [value];
  if (key === each) return (membersIn(value) ?? []).flatMap((member) => valuesAt(member, rest));
  return isJsonObject(value) && Object.hasOwn(value, key) ? valuesAt(value[key] as JsonValue, rest) : [];
}

function replaced(value: JsonValue, [key, ...rest]: Path, change: Change): JsonValue | undefined {
  if (key === undefined) return change(value);
  if (Array.isArray(value)) return value.flatMap((member) => replaced(member, rest, change) ?? []);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      const after = key === each || name === key ? replaced(member, rest, change) : member;
      return after === undefined ? [] : [[name, after]];
    }),
  );
}

function written(path: Path): string {
  return path.join('.').replaceAll('.[]', each);
}

function textsOf(converted: ConvertedRecord): Map<string, string> {
  return new Map(
    Object.entries(converted).flatMap(([name, value]) => (value === undefined ? [] : [[name, jsonText(value)]])),
  );
}
