import { landingFieldNames, type LandingFieldName } from '../../kit/vocabulary/offer-fields.ts';
import type { JsonObject, JsonValue } from '../../kit/text/json-text.ts';

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
