import { decimalText, roundedUnits, roundedUpUnits, tenTo } from '../../kit/text/decimal-text.ts';
import type { Decimal } from '../../kit/text/decimal-text.ts';

/** An amount of USD as publishers see it, in ten-thousandths. */
export type TenThousandths = bigint;

/** Published money has four decimal places. */
const publishedPlaces = 4;

/** Returns a gross amount as a publisher sees it: gross × (1 − commission), rounded half away from zero to 4 places. */
export function publishedAmount(gross: Decimal, commission: Decimal): TenThousandths {
  const share = tenTo(commission.places) - commission.units;
  return roundedUnits({ units: gross.units * share, places: gross.places + commission.places }, publishedPlaces);
}

/** The least published amount that is not below the given decimal. */
export function leastAmountFrom(minimum: Decimal): TenThousandths {
  return roundedUpUnits(minimum, publishedPlaces);
}

/** The amount as the shortest JSON number: 1.5, 0.0123, 3. */
export function publishedAmountText(amount: TenThousandths): string {
  return decimalText({ units: amount, places: publishedPlaces });
}
