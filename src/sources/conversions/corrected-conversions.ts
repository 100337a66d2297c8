import { plainDecimal } from '../../kit/intake/mapping/numbers.ts';
import { decimalText, tenTo, type Decimal } from '../../kit/text/decimal-text.ts';
import type { NetworkConversion, NoConversion } from '../connectors/network-conversion.ts';

/** A conversion, or why a record is none. */
export type ListedConversion = NetworkConversion | NoConversion;

/**
 * Adds corrections to the conversions that they correct: what is left is the amount, and where nothing is left the
 * conversion is rejected, for the reason of its last correction. A pending correction changes nothing yet. A correction
 * whose conversion is not in the list is `corrects_unlisted`, and amounts that cannot be added are a `bad_payout`.
 */
export function correctedConversions(listed: readonly ListedConversion[]): ListedConversion[] {
  const read = new Map(listed.flatMap((each) => (typeof each === 'string' ? [] : [[each.id, each] as const])));
  const originals = new Set([...read.values()].flatMap((each) => (each.isCorrection ? [] : (each.sharedId ?? []))));
  const corrections = Map.groupBy(
    [...read.values()].filter(({ isCorrection }) => isCorrection),
    ({ sharedId }) => sharedId,
  );
  return [
    ...listed.filter((each) => typeof each === 'string'),
    ...[...read.values()].flatMap((each): ListedConversion[] => {
      if (each.isCorrection) return originals.has(each.sharedId ?? '') ? [] : ['corrects_unlisted'];
      const own = each.sharedId === undefined ? [] : (corrections.get(each.sharedId) ?? []);
      return [withCorrections(each, own)];
    }),
  ];
}

function withCorrections(
  conversion: NetworkConversion,
  all: readonly NetworkConversion[],
): NetworkConversion | 'bad_payout' {
  const corrections = all.filter(({ status }) => status !== 'pending');
  const last = corrections.at(-1);
  if (last === undefined) return conversion;
  let left = amountOf(conversion);
  for (const correction of corrections) {
    const amount = correction.currency === conversion.currency ? amountOf(correction) : undefined;
    if (left === undefined || amount === undefined) return 'bad_payout';
    left = added(left, amount);
  }
  if (left === undefined) return 'bad_payout';
  const reason = last.reason ?? conversion.reason;
  if (left.units <= 0n) return { ...conversion, status: 'rejected', reason };
  return { ...conversion, payout: decimalText(left), reason };
}

function amountOf({ payout }: NetworkConversion): Decimal | undefined {
  return payout === undefined ? undefined : plainDecimal(payout);
}

function added(one: Decimal, other: Decimal): Decimal {
  const places = Math.max(one.places, other.places);
  const units = ({ units: own, places: has }: Decimal) => own * tenTo(places - has);
  return { units: units(one) + units(other), places };
}
