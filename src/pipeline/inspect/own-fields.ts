import { mappedFields } from '../../kit/intake/mapping/mapped-fields.ts';
import { scalarText } from '../../kit/intake/mapping/places.ts';
import { matchNames } from '../../kit/intake/reading/header-names.ts';
import type { JsonObject } from '../../kit/text/json-text.ts';
import type { LandingKind } from '../../kit/vocabulary/values.ts';
import { recordNamesOf } from '../landing/lines/record-names.ts';
import type { Proposal } from './propose-mapping.ts';

/** Names of a file's fields; those of a table are ours whatever their case, blanks, dashes and underscores. */
interface WrittenNames {
  names: readonly string[];
  isTable: boolean;
}

/** Returns whether records of these names have what landing needs without a mapping, which alone knows a `status`. */
export function hasOwnFields(kind: LandingKind, written: WrittenNames): boolean {
  const own = ownAmong(kind, written);
  if (kind === 'clicks' && !own.has('offer_id') && !own.has('source')) return false;
  return mappedFields[kind].required.every((choice) => choice.some((name) => own.has(name)));
}

/**
 * Proposes a mapping for conversions in our own fields that name their currency: in our fields amounts are in USD.
 *
 * @returns undefined where they are in USD, or name no currency
 */
export function withCurrency(
  kind: LandingKind,
  written: WrittenNames,
  records: readonly JsonObject[],
): Proposal | undefined {
  const place = written.names.find((name) => name.toLowerCase() === 'currency');
  if (kind !== 'conversions' || place === undefined) return undefined;
  const other = records
    .map((record) => scalarText(record[place])?.trim() ?? '')
    .find((text) => !/^(?:USD)?$/i.test(text));
  if (other === undefined) return undefined;
  const fields = { ...Object.fromEntries(ownAmong(kind, written)), currency: place };
  const doubt = `${JSON.stringify(place)} is no field of ours: without a mapping amounts count as USD, also those in ${JSON.stringify(other)}. This one converts them by "rates" of offerline.json`;
  return { fields, seen: {}, missing: [], doubts: [doubt] };
}

/** Our fields among the names, each with the name as it is written. */
function ownAmong(kind: LandingKind, { names, isTable }: WrittenNames): Map<string, string> {
  const { fields } = recordNamesOf(kind);
  const ours = isTable ? matchNames(names, fields) : names;
  return new Map(
    names.flatMap((name, index) => {
      const field = ours[index] ?? name;
      return fields.includes(field) ? [[field, name] as const] : [];
    }),
  );
}
