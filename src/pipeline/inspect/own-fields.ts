import { mappedFields } from '../../kit/intake/mapping/mapped-fields.ts';
import { scalarText } from '../../kit/intake/mapping/places.ts';
import type { JsonObject } from '../../kit/text/json-text.ts';
import type { LandingKind } from '../../kit/vocabulary/values.ts';
import { recordNamesOf } from '../landing/lines/record-names.ts';
import type { Proposal } from './propose-mapping.ts';

/** Returns whether records of these names have what landing needs without a mapping, which alone knows a `status`. */
export function hasOwnFields(kind: LandingKind, names: readonly string[]): boolean {
  const own = ownAmong(kind, names);
  if (kind === 'clicks' && !own.includes('offer_id') && !own.includes('source')) return false;
  return mappedFields[kind].required.every((choice) => choice.some((name) => own.includes(name)));
}

/**
 * Proposes a mapping for conversions in our own fields that name their currency: in our fields amounts are in USD.
 *
 * @returns undefined where they are in USD, or name no currency
 */
export function withCurrency(
  kind: LandingKind,
  names: readonly string[],
  records: readonly JsonObject[],
): Proposal | undefined {
  const place = names.find((name) => name.toLowerCase() === 'currency');
  if (kind !== 'conversions' || place === undefined) return undefined;
  const other = records
    .map((record) => scalarText(record[place])?.trim() ?? '')
    .find((text) => !/^(?:USD)?$/i.test(text));
  if (other === undefined) return undefined;
  const fields = Object.fromEntries([...ownAmong(kind, names).map((name) => [name, name]), ['currency', place]]);
  const doubt = `${JSON.stringify(place)} is no field of ours: without a mapping amounts count as USD, also those in ${JSON.stringify(other)}. This one converts them by "rates" of offerline.json`;
  return { fields, seen: {}, missing: [], doubts: [doubt] };
}

function ownAmong(kind: LandingKind, names: readonly string[]): string[] {
  const { fields } = recordNamesOf(kind);
  return names.filter((name) => fields.includes(name));
}
