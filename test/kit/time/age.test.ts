import { expect, test } from 'vitest';
import { ageText } from '../../../src/kit/time/age.ts';

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

test.each([
  [0, 'just now'],
  [0.4, 'just now'],
  [1, '1 s ago'],
  [59.9, '59 s ago'],
  [minute, '1 min ago'],
  [51 * minute + 59, '51 min ago'],
  [hour - 1, '59 min ago'],
  [hour, '1 h ago'],
  [47 * hour + 59 * minute, '47 h ago'],
  [2 * day, '2 d ago'],
  [3 * day + 23 * hour, '3 d ago'],
  [400 * day, '400 d ago'],
  [-1, 'in 1 s'],
  [-5 * minute, 'in 5 min'],
  [-3 * day, 'in 3 d'],
])('%d seconds are "%s"', (seconds, text) => {
  expect(ageText(seconds)).toBe(text);
});
