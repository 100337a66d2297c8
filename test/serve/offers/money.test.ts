import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { publishedAmountText, leastAmountFrom, publishedAmount } from '../../../src/serve/offers/money.ts';
import { decimalOf, decimalText } from '../../../src/kit/text/decimal-text.ts';

function published(gross: string, commission: string): string {
  return publishedAmountText(publishedAmount(decimalOf(gross), decimalOf(commission)));
}

describe('published money', () => {
  test.each([
    ['1.500000', '0', '1.5'],
    ['3', '0', '3'],
    ['3.000000', '0.000', '3'],
    ['0.0123', '0', '0.0123'],
    ['10', '0.2', '8'],
    ['0.1', '0.3', '0.07'],
    ['1.005', '0.5', '0.5025'],
    // Half of the last place goes away from zero; in binary floating point these come out one lower.
    ['1.00005', '0', '1.0001'],
    ['2.00015', '0', '2.0002'],
    ['0.000049', '0', '0'],
    ['0.00005', '0', '0.0001'],
    ['0.285', '0.15', '0.2423'],
    ['999999999.999999', '0', '1000000000'],
    ['999999999.999999', '0.000001', '999999000'],
    ['123456789.123456', '0.333333', '82304567.2346'],
    ['5', '1', '0'],
  ])('%s gross at a commission of %s is %s', (gross, commission, expected) => {
    expect(published(gross, commission)).toBe(expected);
  });

  test('is never more than half of the last place away from the exact product, and the higher one at exactly half', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 15n - 1n), fc.bigInt(0n, 10n ** 6n), (micros, millionths) => {
        const amount = publishedAmount({ units: micros, places: 6 }, { units: millionths, places: 6 });
        // In units of 10^-12: the exact product, and what was published.
        const off = amount * 10n ** 8n - micros * (10n ** 6n - millionths);
        expect(off > -(10n ** 8n) / 2n && off <= 10n ** 8n / 2n).toBe(true);
      }),
    );
  });

  test('is written as the shortest JSON number of its value', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 13n), (amount) => {
        expect(publishedAmountText(amount)).toBe(JSON.stringify(Number(amount) / 10_000));
      }),
    );
  });
});

test.each([
  ['0.250000', '0.25'],
  ['1.333333', '1.333333'],
  ['0.000000', '0'],
  ['12', '12'],
])('the decimal %s is written %s', (text, expected) => {
  expect(decimalText(decimalOf(text))).toBe(expected);
});

test.each([
  ['1.5', 15_000n],
  ['0', 0n],
  ['0.00001', 1n],
  ['1.23450', 12_345n],
  ['1.23451', 12_346n],
])('the least published amount not below %s is %s ten-thousandths', (minimum, expected) => {
  expect(leastAmountFrom(decimalOf(minimum))).toBe(expected);
});
