import { expect, test } from 'vitest';
import { microsecondsNumber, parseIsoMoment, withOffset } from '../../../src/kit/time/iso-moment.ts';

const eightOClock = microsecondsNumber('2026-11-20T08:00:00Z');

test.each([
  ['2026-11-20T08:00:00Z', eightOClock],
  ['2026-11-20T08:00:00', eightOClock],
  ['2026-11-20T08:00', eightOClock],
  ['2026-11-20 08:00:00Z', eightOClock],
  ['2026-11-20T10:00:00+02:00', eightOClock],
  ['2026-11-20T10:00:00 02:00', eightOClock],
  ['2026-11-20 10:00 02:00', eightOClock],
  ['2026-11-20T10:00:00+0200', eightOClock],
  ['2026-11-20T10:00:00+02', eightOClock],
  ['2026-11-19T22:30:00-09:30', eightOClock],
  ['2026-11-20', eightOClock - 8 * 3600 * 1e6],
  ['2026-11-20T08:00:00.5Z', eightOClock + 500_000],
  ['2026-11-20T08:00:00.0000019Z', eightOClock + 1],
])('%s is understood', (text, expected) => {
  expect(parseIsoMoment(text)).toBe(expected);
});

test.each([
  'yesterday',
  '2026-13-01',
  '2026-02-30',
  '2026-02-29',
  '20261120',
  '1763625600',
  '2026-11-20T',
  '2026-11-20T24:00:00Z',
  '2026-11-20T08:60',
  '2026-11-20T08:00:60Z',
  '2026-11-20T08:00:00+18:01',
  '2026-11-20T08:00:00+02:60',
  '2026-11-20T08:00:00.Z',
  '2026-11-20Z',
  '2026-11-20T08:00:00z',
  ' 2026-11-20',
])('%s is refused', (text) => {
  expect(parseIsoMoment(text)).toBeUndefined();
});

test('a feed timestamp keeps its microseconds', () => {
  expect(microsecondsNumber('2026-11-20T08:00:00.000001Z')).toBe(eightOClock + 1);
  expect(microsecondsNumber('2026-11-20T08:00:00.25Z')).toBe(eightOClock + 250_000);
  expect(withOffset('2026-11-20T08:00:00.25Z')).toBe('2026-11-20T08:00:00.25+00:00');
});
