import { landingFieldNames, type LandingFieldName } from '../../kit/vocabulary/offer-fields.ts';
import { JsonNumber, type JsonObject, type JsonValue } from '../../kit/text/json-text.ts';

/**
 * Builds an offer for landing without undefined fields and in a fixed order, so that the same offer is the same text.
 */
export function canonicalOffer(fields: Partial<Record<LandingFieldName, JsonValue | undefined>>): JsonObject {
  return Object.fromEntries(
    landingFieldNames.flatMap((name) => {
      const value = fields[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** Writes JSON with numbers as the network wrote them. */
export function jsonText(value: JsonValue): string {
  if (value instanceof JsonNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map(jsonText).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, member]) => `${JSON.stringify(key)}:${jsonText(member)}`)
    .join(',')}}`;
}
