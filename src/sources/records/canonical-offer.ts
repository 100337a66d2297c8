import { JsonNumber, type JsonObject, type JsonValue } from '../../text/json-text.ts';

/** The fields that landing reads, in the order in which an export has them. */
const order = [
  'external_id',
  'title',
  'description',
  'payout',
  'currency',
  'events',
  'status',
  'countries',
  'devices',
  'categories',
  'formats',
  'image',
  'preview_url',
  'destination_url',
  'android_min_os',
  'ios_min_os',
  'payment_term',
  'tracking_type',
  'report_category',
  'level',
  'stars',
  'daily_cap',
  'daily_click_cap',
  'multi_complete',
  'created_at',
  'updated_at',
] as const;
export type CanonicalField = (typeof order)[number];
export const canonicalFields: readonly CanonicalField[] = order;

/**
 * An offer for landing: what is undefined is left out, the rest in one order, so that the same offer is the same text.
 */
export function canonicalOffer(fields: Partial<Record<CanonicalField, JsonValue | undefined>>): JsonObject {
  return Object.fromEntries(
    order.flatMap((name) => {
      const value = fields[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** JSON text with numbers as the network wrote them. */
export function jsonText(value: JsonValue): string {
  if (value instanceof JsonNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map(jsonText).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, member]) => `${JSON.stringify(key)}:${jsonText(member)}`)
    .join(',')}}`;
}

/** Countries where an offer runs; what is left of all countries without the denied ones. */
export type Targeting = { allowed: string[] } | { denied: string[] };
