/** A non-negative decimal, exactly: `units` / 10^`places`. Money never passes through binary floating point. */
export interface Decimal {
  units: bigint;
  places: number;
}

/** Published money has four decimal places. */
const publishedPlaces = 4;

/** Reads plain decimal text such as "12" or "0.0350". The caller has made sure that it is that. */
export function decimalOf(text: string): Decimal {
  const point = text.indexOf('.');
  if (point === -1) return { units: BigInt(text), places: 0 };
  return { units: BigInt(text.slice(0, point) + text.slice(point + 1)), places: text.length - point - 1 };
}

/**
 * What a publisher sees of a gross amount: gross × (1 − commission), rounded half away from zero to 4 places.
 * The result counts ten-thousandths.
 */
export function publishedAmount(gross: Decimal, commission: Decimal): bigint {
  const share = 10n ** BigInt(commission.places) - commission.units;
  return rounded({ units: gross.units * share, places: gross.places + commission.places });
}

/** The least published amount, in ten-thousandths, that is not below the given decimal. */
export function leastAmountFrom(minimum: Decimal): bigint {
  if (minimum.places <= publishedPlaces) return scaledUp(minimum);
  const divisor = 10n ** BigInt(minimum.places - publishedPlaces);
  return (minimum.units + divisor - 1n) / divisor;
}

/**
 * The same as a number, for catalogs of thousands; as a big integer where no number is that exact. Whole numbers all the
 * way: where one on the way would be too large to be exact, big integers step in.
 */
export function publishedExactly(gross: Decimal, commission: Decimal): number | bigint {
  const share = 10 ** commission.places - Number(commission.units);
  const product = Number(gross.units) * share;
  const places = gross.places + commission.places - publishedPlaces;
  if (product * 2 < Number.MAX_SAFE_INTEGER && places >= 0 && places <= 15 && commission.places <= 15) {
    const divisor = 10 ** places;
    const whole = Math.floor(product / divisor);
    return (product - whole * divisor) * 2 >= divisor ? whole + 1 : whole;
  }
  const amount = publishedAmount(gross, commission);
  return amount > Number.MAX_SAFE_INTEGER ? amount : Number(amount);
}

/** The same for payouts of a catalog, which are a thousand times smaller than the largest exact number. Throws `RangeError` for others. */
export function publishedNumber(gross: Decimal, commission: Decimal): number {
  const amount = publishedExactly(gross, commission);
  if (typeof amount === 'bigint') throw new RangeError(`${amount} ten-thousandths of a USD are too many for a payout`);
  return amount;
}

/** Ten-thousandths as the shortest JSON number: 1.5, 0.0123, 3. */
export function amountText(amount: bigint): string {
  return shortestText({ units: amount, places: publishedPlaces });
}

/** A decimal as the shortest JSON number of the same value. */
export function shortestText({ units, places }: Decimal): string {
  const digits = units.toString().padStart(places + 1, '0');
  const whole = digits.slice(0, digits.length - places);
  const fraction = digits.slice(digits.length - places).replace(/0+$/, '');
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

function rounded(value: Decimal): bigint {
  if (value.places <= publishedPlaces) return scaledUp(value);
  const divisor = 10n ** BigInt(value.places - publishedPlaces);
  return (2n * value.units + divisor) / (2n * divisor);
}

function scaledUp({ units, places }: Decimal): bigint {
  return units * 10n ** BigInt(publishedPlaces - places);
}
