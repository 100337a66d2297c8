import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { convertMoney, moneyText, parseMoney, sumMoney } from '../../../src/kit/text/decimal-text.ts';

const amounts = fc.bigInt({ min: 0n, max: 10n ** 15n - 1n });

describe('money as text', () => {
  it.each([
    ['0', 0n],
    ['0.000001', 1n],
    ['1.5', 1_500_000n],
    ['1.500000', 1_500_000n],
    ['007', 7_000_000n],
    [' 1 ', 1_000_000n],
    ['+1', 1_000_000n],
    ['1e3', 1_000_000_000n],
    ['1E-3', 1000n],
    ['.5', 500_000n],
    ['999999999.999999', 10n ** 15n - 1n],
  ])('reads %s', (text, micros) => {
    expect(parseMoney(text)).toBe(micros);
  });

  it.each(['', '-1', '-0', '1_000', '1,5', '5.', '0.1234567', '1000000000', 'NaN', 'Infinity', '0x10', '١'])(
    'refuses %j',
    (text) => {
      expect(parseMoney(text)).toBeUndefined();
    },
  );

  it('writes what it reads, in the shortest form', () => {
    fc.assert(
      fc.property(amounts, (micros) => {
        const text = moneyText(micros);
        expect(parseMoney(text)).toBe(micros);
        expect(text).toMatch(/^(0|[1-9]\d*)(\.\d{0,5}[1-9])?$/);
      }),
    );
  });

  it('sums exactly and refuses a sum that is too large', () => {
    fc.assert(
      fc.property(fc.array(amounts), (all) => {
        let sum = 0n;
        for (const amount of all) sum += amount;
        expect(sumMoney(all)).toBe(sum < 10n ** 15n ? sum : undefined);
      }),
    );
  });
});

describe('conversion', () => {
  it.each([
    ['10', '1.08', '10.8'],
    ['0.000001', '0.5', '0.000001'],
    ['0.000001', '0.499999999', '0'],
    ['0.000003', '0.5', '0.000002'],
    ['1', '0.000000001', '0'],
    ['100', '0.006666667', '0.666667'],
    ['1', '0', '0'],
  ])('%s at %s is %s', (amount, rate, usd) => {
    expect(moneyText(convertMoney(parseMoney(amount) as bigint, rate) as bigint)).toBe(usd);
  });

  it('is the exact product rounded half away from zero', () => {
    const rates = fc.tuple(
      fc.bigInt({ min: 0n, max: 10n ** 9n - 1n }),
      fc.integer({ min: 0, max: 9 }),
      fc.bigInt({ min: 0n, max: 10n ** 9n - 1n }),
    );
    fc.assert(
      fc.property(amounts, rates, (micros, [whole, places, digits]) => {
        const fraction = digits.toString().padStart(9, '0').slice(0, places);
        const rate = places === 0 ? `${whole}` : `${whole}.${fraction}`;
        // The product as the rational exact / 10^places, in millionths of a dollar.
        const scale = 10n ** BigInt(places);
        const exact = micros * BigInt(`${whole}${fraction}`);
        const floor = exact / scale;
        const expected = 2n * (exact - floor * scale) >= scale ? floor + 1n : floor;
        expect(convertMoney(micros, rate)).toBe(expected < 10n ** 15n ? expected : undefined);
      }),
    );
  });
});
