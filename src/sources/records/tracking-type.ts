import { trackingTypes } from '../../kit/vocabulary/values.ts';

/** Returns the tracking type that a network's word names, in any case; undefined for others, such as CPC. */
export function trackingType(word: string | undefined): (typeof trackingTypes)[number] | undefined {
  return trackingTypes.find((type) => type === word?.toUpperCase());
}
