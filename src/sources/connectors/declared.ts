import { z } from 'zod';
import { describeIssue } from '../../kit/config/describe-issue.ts';
import { compileMapping } from '../../kit/intake/mapping/compile-mapping.ts';
import { computedMeta, jsonSchema } from '../../kit/intake/mapping/either-form.ts';
import { fieldsSchema, type FieldMap } from '../../kit/intake/mapping/mapping-schema.ts';
import { membersOf, scalarText, valueAt } from '../../kit/intake/mapping/places.ts';
import { plainText } from '../../kit/intake/mapping/html.ts';
import { rowFilter } from '../../kit/intake/mapping/rows.ts';
import type { Condition } from '../../kit/intake/mapping/rows-schema.ts';
import { jsonId } from '../../kit/text/json-id.ts';
import { JsonNumber, type JsonObject, type JsonValue } from '../../kit/text/json-text.ts';
import type { LandingFieldName } from '../../kit/vocabulary/offer-fields.ts';
import { isZero } from '../records/amounts.ts';
import { canonicalOffer } from '../records/canonical-offer.ts';
import { currencyOf } from '../records/currency.ts';
import { forbidsIncentives } from '../records/non-incentive.ts';
import type { NetworkRecord } from '../records/record-fields.ts';
import type { CanonicalRecord, SourceSettings } from './connector.ts';

/** An offer needs no more than its id here: landing says what else it lacks, by name. */
const offerFields = fieldsSchema('offers', { required: [['external_id']] });

/** A field in its short form: its place, or one value for all records. */
type ShortField = string | { value: JsonValue };

/** Where the fields of an offer stand in a record. */
export interface DeclaredFields {
  short: ReadonlyMap<string, ShortField>;
  mapped: FieldMap;
}

export const declaredFieldsSchema = z
  .unknown()
  .transform((given, context): DeclaredFields => {
    const fields = Object.entries(z.record(z.string(), z.unknown()).safeParse(given).data ?? {});
    const short = new Map(fields.filter((field): field is [string, ShortField] => isShort(field[1])));
    const checked = typeof given === 'object' && given !== null ? Object.fromEntries(fields.map(asPlace)) : given;
    const read = offerFields.safeParse(checked, { error: describeIssue });
    if (read.success) {
      const mapped = Object.entries(read.data.fields).filter(([name]) => !short.has(name));
      return { short, mapped: { fields: Object.fromEntries(mapped), events: read.data.events } };
    }
    context.issues.push(...(read.error.issues as z.core.$ZodRawIssue[]));
    return z.NEVER;
  })
  // The JSON Schema of a transformation says nothing by itself.
  .meta(
    computedMeta('anyOf', () => {
      const fields = jsonSchema(offerFields);
      const properties = fields['properties'] as Record<string, unknown>;
      return [
        { ...fields, properties: { ...properties, events: { anyOf: [{ type: 'string' }, properties['events']] } } },
      ];
    }),
  );

/** Returns the places of an offer's id; undefined where it is the same for all. */
export function idPlaces({ short, mapped }: DeclaredFields): readonly string[] | undefined {
  const id = short.get('external_id');
  return typeof id === 'string' ? [id] : mapped.fields['external_id']?.at;
}

/** True where the declaration says where the field is. */
export function hasField({ short, mapped }: DeclaredFields, name: LandingFieldName): boolean {
  return short.has(name) || Object.hasOwn(mapped.fields, name);
}

function isShort(field: unknown): field is ShortField {
  if (typeof field === 'string') return true;
  return typeof field === 'object' && field !== null && Object.keys(field).join() === 'value';
}

/**
 * Short forms are checked by their names alone: constants go as they stand, and milestones at a place are ours already.
 */
function asPlace([name, field]: [string, unknown]): [string, unknown] {
  if (!isShort(field)) return [name, field];
  if (name === 'events') return [name, undefined];
  return [name, typeof field === 'string' ? field : ''];
}

/** A warning, and the records that it counts. */
export interface DeclaredWarning {
  as: string;
  each?: string | undefined;
  rows: readonly Condition[];
}

/** How a declaration reads a record of the list. */
export interface DeclaredRecord {
  rows?: readonly Condition[] | undefined;
  warnings?: readonly DeclaredWarning[] | undefined;
  /** Places of texts that may forbid incentives. */
  non_incentive?: readonly string[] | undefined;
  fields: DeclaredFields;
}

/** Makes the function that converts a record as an operator declared it. */
export function declaredOffer(
  { rows, warnings: declared, non_incentive = [], fields }: DeclaredRecord,
  source: SourceSettings,
): (record: NetworkRecord) => CanonicalRecord {
  const mapping = compileMapping({ rows, fields: fields.mapped }, 'offers');
  const warningsOf = warningReader(declared);
  return (record) => {
    const mapped = mapping.map(record.value);
    if ('passedOver' in mapped) return { leftOut: 'passed_over' };
    if (!source.keepNonIncentive && forbidsIncentives(...textsAt(record, non_incentive)))
      return { leftOut: 'forbids_incentives' };
    const offer: JsonObject = { ...shortFields(record, fields.short), ...mapped.record };
    if (offer['external_id'] !== undefined) offer['external_id'] = plainId(offer['external_id']);
    // An offer that pays by its milestones alone has 0 of its own: their sum counts.
    if (offer['events'] !== undefined && isZero(scalarText(offer['payout']))) delete offer['payout'];
    const currency = offer['currency'] ?? undefined;
    const written = scalarText(currency);
    // What is no text goes on for landing, which refuses it.
    if (currency === undefined || written !== undefined) offer['currency'] = currencyOf(written, source.currency);
    const warnings = [...mapped.warnings, ...warningsOf(record.value)];
    return warnings.length === 0 ? { record: canonicalOffer(offer) } : { record: canonicalOffer(offer), warnings };
  };
}

function warningReader(declared: readonly DeclaredWarning[] = []): (record: JsonValue) => string[] {
  const readers = declared.map(({ as, each, rows }) => {
    const counts = rowFilter(rows);
    if (each === undefined) return { as, holds: counts };
    return { as, holds: (record: JsonValue) => membersOf(valueAt(record, each)).some((member) => counts(member)) };
  });
  return (record) => readers.flatMap(({ as, holds }) => (holds(record) ? [as] : []));
}

/** Plain texts at places, each of which may be in several languages. */
function textsAt(record: NetworkRecord, places: readonly string[]): (string | undefined)[] {
  return places.flatMap((place) => {
    const text = record.text(place);
    const texts = text === undefined ? record.records(place).map((member) => member.text('')) : [text];
    return texts.map(plainText);
  });
}

/** Writes an id in one way however the network writes it; what is no id goes on for landing, which refuses it. */
function plainId(value: JsonValue): JsonValue {
  const id = jsonId(value)?.trim() || undefined;
  if (id === undefined) return value;
  return value instanceof JsonNumber ? new JsonNumber(id) : id;
}

const lists = new Set(['countries', 'devices', 'categories', 'formats'] satisfies LandingFieldName[] as string[]);

function shortFields(record: NetworkRecord, fields: DeclaredFields['short']): JsonObject {
  const read: JsonObject = {};
  for (const [name, field] of fields) {
    const value = typeof field === 'string' ? record.at(field) : field.value;
    if (value === undefined || value === '') continue;
    read[name] = lists.has(name) ? listOf(value) : value;
  }
  return read;
}

/** Returns the members of a list or map, or the parts of a text with commas. */
function listOf(value: JsonValue): JsonValue[] {
  if (typeof value !== 'string') return membersOf(value).map((member) => scalarText(member) ?? '');
  return value
    .split(/[,|;]/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
