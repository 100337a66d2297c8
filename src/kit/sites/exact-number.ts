import { z } from 'zod';

/** A number that its shortest decimal text states exactly, with up to 6 places. */
export const exactNumber = z.number().refine((value) => /^\d{1,9}(\.\d{1,6})?$/.test(decimalOfNumber(value)), {
  error: 'has more than 6 decimal places, or is 1000000000 or more',
});

/** A part of an amount. */
export const share = exactNumber.min(0).max(1);

/**
 * Writes such a number as plain decimal text. `1e-7`-style output cannot appear within 6 places except for values below
 * 1e-6, which are refused.
 */
export function decimalOfNumber(value: number): string {
  return value !== 0 && value < 1e-6 ? value.toFixed(12) : String(value);
}
