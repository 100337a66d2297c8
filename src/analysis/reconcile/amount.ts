/** A reward in billionths of a point, so that sums and differences are exact. */
export type Amount = bigint;

const places = 9;

/** Plain decimal text with up to 9 places, or a minus before it. Anything else is no amount. */
export function parseAmount(text: string): Amount | undefined {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d{1,15})(?:\.(\d{1,9}))?$/.exec(text) ?? [];
  if (whole === '') return undefined;
  const amount = BigInt(whole + fraction.padEnd(places, '0'));
  return sign === '' ? amount : -amount;
}

/** The shortest plain decimal text, such as `-0.25`. */
export function amountText(amount: Amount): string {
  const digits = String(amount < 0n ? -amount : amount).padStart(places + 1, '0');
  const fraction = digits.slice(-places).replace(/0+$/, '');
  return `${amount < 0n ? '-' : ''}${digits.slice(0, -places)}${fraction === '' ? '' : `.${fraction}`}`;
}
