import { expect, it } from 'vitest';
import {
  shownMoney,
  moneyValue,
  shownNumber,
  percentText,
  percentValue,
  rounded,
} from '../../../src/console/html/values.ts';

it.each([
  ['0.005000', 2, '0.01'],
  ['0.004999', 2, '0.00'],
  ['-0.005000', 2, '-0.01'],
  ['1.999999', 2, '2.00'],
  ['12345678901234567890.125000', 2, '12345678901234567890.13'],
  ['7', 2, '7.00'],
  ['7.5', 0, '8'],
  [0.1, 2, '0.10'],
  [1e-7, 2, '0.00'],
])('%s to %i places is %s', (exact, places, text) => {
  expect(rounded(exact, places)).toBe(text);
});

it.each([
  [1234567.5, '1,234,567.5'],
  ['1200.00', '1,200'],
  [1.5e-10, '1.5e-10'],
  [1.5e30, '1.5e+30'],
])('%s is shown as %s', (exact, text) => {
  expect(shownNumber(exact)).toBe(text);
});

it.each([
  ['1234567.891000', '1,234,567.89'],
  ['0.000000', '0.00'],
  ['0.004000', '< 0.01'],
  ['0.005000', '0.01'],
])('%s USD is shown as %s', (exact, text) => {
  expect(shownMoney(exact)).toBe(text);
});

it.each([
  ['0.666667', '66.67 %'],
  ['0.250000', '25 %'],
  ['0.175000', '17.5 %'],
  ['1.000000', '100 %'],
  ['12.500000', '1,250 %'],
  ['0.000010', '0 %'],
  ['0', '0 %'],
])('the ratio %s is shown as %s', (ratio, text) => {
  expect(percentText(ratio)).toBe(text);
});

it('what a text leaves out is on hover, and programs find the exact value', () => {
  expect(moneyValue('1.666667').toString()).toBe('<data value="1.666667" title="1.666667">1.67</data>');
  expect(moneyValue('1.500000').toString()).toBe('<data value="1.500000">1.50</data>');
  expect(percentValue('0.25', 2).toString()).toBe('<data value="0.25" title="0.25">25.00 %</data>');
});
