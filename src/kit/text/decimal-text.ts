/**
 * Exact decimals. Money never passes through binary floating point: it is read from text into whole units of a decimal
 * place, and written from them.
 */

/** An exact decimal: `units` / 10^`places`. */
export interface Decimal {
  readonly units: bigint;
  readonly places: number;
}

/** Reads plain decimal text such as `12`, `0.0350` or `-1.5`, which the caller has validated. */
export function decimalOf(text: string): Decimal {
  const point = text.indexOf('.');
  if (point === -1) return { units: BigInt(text), places: 0 };
  return { units: BigInt(text.slice(0, point) + text.slice(point + 1)), places: text.length - point - 1 };
}

/** Writes the shortest plain text of the value, such as `2.5`; valid JSON too. */
export function decimalText({ units, places }: Decimal): string {
  const digits = (units < 0n ? -units : units).toString().padStart(places + 1, '0');
  const whole = digits.slice(0, digits.length - places);
  const fraction = digits.slice(digits.length - places).replace(/0+$/, '');
  return `${units < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

const powersOfTen = Array.from({ length: 32 }, (_, power) => 10n ** BigInt(power));

/** 10^`power`. */
export function tenTo(power: number): bigint {
  return powersOfTen[power] ?? 10n ** BigInt(power);
}

/** Returns the value in units of 10^-`places`, rounded half away from zero. For values that are not negative. */
export function roundedUnits(value: Decimal, places: number): bigint {
  if (value.places <= places) return value.units * tenTo(places - value.places);
  const divisor = tenTo(value.places - places);
  return (2n * value.units + divisor) / (2n * divisor);
}

/** Returns the value in units of 10^-`places`, rounded up. */
export function roundedUpUnits(value: Decimal, places: number): bigint {
  if (value.places <= places) return roundedUnits(value, places);
  const divisor = tenTo(value.places - places);
  return (value.units + divisor - 1n) / divisor;
}

/** An amount of USD in millionths, so that sums and conversions are exact. */
export type Micros = bigint;

const moneyPlaces = 6;
/** Money stays below this: DECIMAL(15,6) holds nine digits before the point. */
const limit = 10n ** 15n;

const plainMoney = /^\d{1,9}(\.\d{1,6})?$/;
/** The same in another spelling: `+1.5`, `.5`, ` 1.50000000`, `1.5e0`. */
const spelledMoney =
  /^[ \t]*\+?(?=\.?\d)(\d{0,18})(?:\.(\d{1,9}(?=[eE])|\d{1,40}(?![eE])))?(?:[eE]([+-]?0?\d))?[ \t]*$/;

/** Reads plain digits with up to 6 places, below 10⁹; no sign, exponent or separator. Undefined for anything else. */
export function parsePlainMoney(text: string): Micros | undefined {
  return plainMoney.test(text) ? roundedUnits(decimalOf(text), moneyPlaces) : undefined;
}

/**
 * Reads a decimal number from 0 on and below 10⁹ that 6 places hold exactly, also with an exponent, a plus, noughts
 * behind or blanks around. Undefined for anything else.
 */
export function parseMoney(text: string): Micros | undefined {
  const plain = parsePlainMoney(text);
  if (plain !== undefined) return plain;
  const [, whole = '', fraction = '', exponent = '0'] = spelledMoney.exec(text) ?? [];
  if (whole === '' && fraction === '') return undefined;
  const units = BigInt(whole + fraction);
  const places = fraction.length - Number(exponent);
  if (places <= moneyPlaces) return withinLimit(units * tenTo(moneyPlaces - places));
  const divisor = tenTo(places - moneyPlaces);
  return units % divisor === 0n ? withinLimit(units / divisor) : undefined;
}

/** Writes the shortest plain decimal text, such as `2.5`. */
export function moneyText(amount: Micros): string {
  return decimalText({ units: amount, places: moneyPlaces });
}

/** A reward in billionths of a point, so that sums and differences are exact. */
export type Amount = bigint;

const amountPlaces = 9;

/** Reads plain decimal text with up to 9 places, or a minus before it. Undefined for anything else. */
export function parseAmount(text: string): Amount | undefined {
  if (!/^-?\d{1,15}(\.\d{1,9})?$/.test(text)) return undefined;
  const { units, places } = decimalOf(text);
  return units * 10n ** BigInt(amountPlaces - places);
}

/** Writes the shortest plain decimal text, such as `-0.25`. */
export function pointsText(amount: Amount): string {
  return decimalText({ units: amount, places: amountPlaces });
}

/**
 * Converts an amount to USD, rounded half away from zero to 6 places. `rate` is USD for one unit, a plain decimal with
 * up to 9 places. Undefined where the result is too large to be an amount.
 */
export function convertMoney(amount: Micros, rate: string): Micros | undefined {
  const { units, places } = decimalOf(rate);
  return withinLimit(roundedUnits({ units: amount * units, places: moneyPlaces + places }, moneyPlaces));
}

/**
 * Converts an amount in a currency, by its ISO 4217 code in capitals, to USD. `rates`: USD for one unit, by code. A
 * fault where the currency has no rate, or the result is too large to be an amount.
 */
export function amountInUsd(
  amount: Micros,
  currency: string,
  rates: Readonly<Record<string, string>>,
): { usd: string } | { fault: 'no_rate' | 'bad_payout' } {
  if (currency === 'USD') return { usd: moneyText(amount) };
  const rate = Object.hasOwn(rates, currency) ? rates[currency] : undefined;
  if (rate === undefined) return { fault: 'no_rate' };
  const usd = convertMoney(amount, rate);
  return usd === undefined ? { fault: 'bad_payout' } : { usd: moneyText(usd) };
}

/** Adds amounts. Undefined where the sum is too large to be an amount. */
export function sumMoney(amounts: readonly Micros[]): Micros | undefined {
  return withinLimit(amounts.reduce((sum, amount) => sum + amount, 0n));
}

function withinLimit(amount: Micros): Micros | undefined {
  return amount < limit ? amount : undefined;
}
