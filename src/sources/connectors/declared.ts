import { z } from 'zod';
import { landingFieldNames, type LandingFieldName } from '../../kit/vocabulary/offer-fields.ts';
import type { JsonValue } from '../../kit/text/json-text.ts';
import { canonicalOffer } from '../records/canonical-offer.ts';
import type { CanonicalRecord, SourceSettings } from './connector.ts';
import { membersOf, scalarText } from '../../kit/intake/mapping/places.ts';
import type { NetworkRecord } from '../records/record-fields.ts';

/** A field by the place where the record has it, or one value for all records. */
const field = z.union([z.string(), z.strictObject({ value: z.json() })], {
  error: 'is the place of the field in a record, or {"value": …} for the same in all records',
});

/** Places in a record, by our fields. */
export const fieldMapSchema = z
  .partialRecord(z.enum(landingFieldNames), field)
  .refine((fields) => fields.external_id !== undefined, {
    error: 'has no external_id, which identifies an offer in every export',
  });
type FieldMap = z.output<typeof fieldMapSchema>;

const lists = new Set<LandingFieldName>(['countries', 'devices', 'categories', 'formats']);

/** Converts a record by the map of fields that an operator declared. */
export function declaredOffer(record: NetworkRecord, fields: FieldMap, source: SourceSettings): CanonicalRecord {
  const canonical: Partial<Record<LandingFieldName, JsonValue>> = {};
  for (const [name, from] of Object.entries(fields) as [LandingFieldName, FieldMap[LandingFieldName]][]) {
    if (from === undefined) continue;
    const value = typeof from === 'string' ? record.at(from) : (from.value as JsonValue);
    if (value === undefined || value === '') continue;
    canonical[name] = lists.has(name) ? listOf(value) : value;
  }
  canonical.currency ??= source.currency ?? 'USD';
  return { record: canonicalOffer(canonical) };
}

/** Returns the members of a list or map, or the parts of a text with commas. */
function listOf(value: JsonValue): JsonValue[] {
  if (typeof value !== 'string') return membersOf(value).map((member) => scalarText(member) ?? '');
  return value
    .split(/[,|;]/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
