import fc from 'fast-check';
import { expect, it } from 'vitest';
import { compareDecimals, NumberReader, type NumberFormat } from '../../../../src/kit/intake/mapping/numbers.ts';
import { decimalText } from '../../../../src/kit/text/decimal-text.ts';
import { JsonNumber } from '../../../../src/kit/text/json-text.ts';

const plain: NumberFormat = { decimal: '.', strip: [], scale: 0, round: false, sign: 'keep' };

function read(text: string, format: Partial<NumberFormat> = {}): string | undefined {
  return new NumberReader({ ...plain, ...format }).read(text);
}

it('reads what machines write, exactly', () => {
  for (const [text, number] of [
    ['1.25000000', '1.25'],
    ['1.5e0', '1.5'],
    [' 1.5 ', '1.5'],
    ['.5', '0.5'],
    ['5.', '5'],
    ['+1.5', '1.5'],
    ['-0.0', '0'],
    ['12e-3', '0.012'],
    ['1.2E3', '1200'],
    ['29.949999999999999', '29.949999999999999'],
  ] as const)
    expect(read(text)).toBe(number);
});

it('refuses what is written otherwise, above all a point where thousands are meant', () => {
  for (const text of [
    '',
    '.',
    '-',
    '1,5',
    '1 000',
    '--1',
    '1-',
    '0x1',
    'NaN',
    '1e',
    '1e999',
    '1.2.3',
    '$5',
    '1'.repeat(201),
  ])
    expect(read(text)).toBeUndefined();
  const german = { decimal: ',', group: '.' } as const;
  for (const text of [
    '1.5',
    '1.50',
    '1.2345',
    '1,2.345',
    '12345.678',
    '.123',
    '1..000',
    '1.000.5',
    '0.125',
    '-012.500',
  ])
    expect(read(text, german)).toBeUndefined();
});

it('reads separators, units and signs by what the format says', () => {
  expect(read('1.234.567,89', { decimal: ',', group: '.' })).toBe('1234567.89');
  expect(read('12,34,567.5', { group: ',' })).toBe('1234567.5');
  expect(read('1\u202f234\u00a0567,5', { decimal: ',', group: ' ' })).toBe('1234567.5');
  expect(read("1'234", { group: "'" })).toBe('1234');
  for (const text of ['-$5.00 usd', '$-5 USD', 'USD -5$', '\u22125', '- 5'])
    expect(read(text, { strip: ['$', 'USD'] })).toBe('-5');
  expect(read('1$5', { strip: ['$'] })).toBeUndefined();
  for (const text of [`${'$'.repeat(200_000)}5`, `5${'$'.repeat(200_000)}`])
    expect(read(text, { strip: ['$'] })).toBeUndefined();
  expect(read(`$5${' '.repeat(200_000)}`, { strip: ['$'] })).toBe('5');
  expect(read('-12.50', { sign: 'drop' })).toBe('12.5');
});

it('shifts by powers of ten and rounds half away from zero to six places', () => {
  expect(read('1234', { scale: 2 })).toBe('12.34');
  expect(read('1.5', { scale: -3 })).toBe('1500');
  expect(read('29.949999999999999', { round: true })).toBe('29.95');
  expect(read('0.30000000000000004', { round: true })).toBe('0.3');
  expect(read('0.0000005', { round: true })).toBe('0.000001');
  expect(read('-0.0000005', { round: true })).toBe('-0.000001');
  expect(read('0.00000049', { round: true })).toBe('0');
});

it('reads JSON numbers as JSON has them, whatever the format of texts', () => {
  const reader = new NumberReader({ ...plain, decimal: ',', group: '.', scale: 2 });
  expect(reader.read(new JsonNumber('1.234'))).toBe('0.01234');
});

const format: fc.Arbitrary<NumberFormat> = fc
  .record({
    decimal: fc.constantFrom<'.' | ','>('.', ','),
    group: fc.constantFrom('.', ',', ' ', "'", '_', undefined),
    strip: fc.constantFrom([], ['$'], ['USD', '%'], ['e'], ['€', 'EUR ']),
    scale: fc.integer({ min: -6, max: 9 }),
    round: fc.constant(false),
    sign: fc.constant<'keep'>('keep'),
  })
  .filter(({ decimal, group }) => decimal !== group);

it('gives back any decimal that was written by the format', () => {
  fc.assert(
    fc.property(
      format,
      fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n }),
      fc.nat(12),
      fc.nat(3),
      (by, units, places, form) => {
        const digits = (units < 0n ? -units : units).toString().padStart(places + 1, '0');
        const whole = digits.slice(0, digits.length - places).replaceAll(/\B(?=(?:\d{3})+$)/g, by.group ?? '');
        const fraction = places === 0 ? '' : by.decimal + digits.slice(digits.length - places);
        const [unit = ''] = by.strip;
        const sign = units < 0n ? '-' : form === 1 ? '+' : '';
        const written = [
          `${sign}${whole}${fraction}`,
          `${sign}${unit}${whole}${fraction}`,
          `${unit} ${sign}${whole}${fraction}`,
          `${sign}${whole}${fraction} ${unit}`,
        ][form] as string;
        const shifted = by.scale + places;
        const meant = shifted < 0 ? { units: units * 10n ** BigInt(-shifted), places: 0 } : { units, places: shifted };
        expect(new NumberReader(by).read(written)).toBe(decimalText(meant));
      },
    ),
  );
});

it('orders decimals exactly', () => {
  expect(['2', '1e1', '0.3', '0.30000000000000004'].toSorted(compareDecimals)).toEqual([
    '0.3',
    '0.30000000000000004',
    '2',
    '1e1',
  ]);
});
