/** An amount of USD in millionths, so that sums and conversions are exact. */
export type Micros = bigint;

/** Money stays below this: DECIMAL(15,6) holds nine digits before the point. */
const limit = 10n ** 15n;
/** Rates carry up to this many places, so a converted product has six plus nine. */
const ratePlaces = 9;

/** Plain digits with up to 6 places, below 10⁹; no sign, exponent or separator. Anything else is no amount. */
export function parseMoney(text: string): Micros | undefined {
  return /^\d{1,9}(\.\d{1,6})?$/.test(text) ? scaled(text, 6) : undefined;
}

/** The shortest plain decimal text, such as `2.5`. */
export function moneyText(amount: Micros): string {
  return shortestText(amount, 6);
}

/** A reward in billionths of a point, so that sums and differences are exact. */
export type Amount = bigint;

/** Plain digits with up to 9 places, or a minus before them. Anything else is no amount. */
export function parseAmount(text: string): Amount | undefined {
  if (!/^-?\d{1,15}(\.\d{1,9})?$/.test(text)) return undefined;
  return text.startsWith('-') ? -scaled(text.slice(1), 9) : scaled(text, 9);
}

/** The shortest plain decimal text, such as `-0.25`. */
export function amountText(amount: Amount): string {
  return shortestText(amount, 9);
}

/**
 * An amount in USD, rounded half away from zero to 6 places. `rate` is USD for one unit, a plain decimal with up to
 * 9 places. Undefined where the result is too large to be an amount.
 */
export function convertMoney(amount: Micros, rate: string): Micros | undefined {
  const unit = 10n ** BigInt(ratePlaces);
  return withinLimit((2n * amount * scaled(rate, ratePlaces) + unit) / (2n * unit));
}

/** Undefined where the sum is too large to be an amount. */
export function sumMoney(amounts: readonly Micros[]): Micros | undefined {
  return withinLimit(amounts.reduce((sum, amount) => sum + amount, 0n));
}

function withinLimit(amount: Micros): Micros | undefined {
  return amount < limit ? amount : undefined;
}

function scaled(text: string, places: number): bigint {
  const [whole = '', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(places, '0'));
}

function shortestText(amount: bigint, places: number): string {
  const digits = String(amount < 0n ? -amount : amount).padStart(places + 1, '0');
  const fraction = digits.slice(-places).replace(/0+$/, '');
  return `${amount < 0n ? '-' : ''}${digits.slice(0, -places)}${fraction === '' ? '' : `.${fraction}`}`;
}
