import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../../../src/kit/errors/errors.ts';
import {
  addDays,
  compareMoments,
  dateOf,
  dayOf,
  endOfDay,
  microsecondsOf,
  momentOf,
  momentOfMilliseconds,
  dayOption,
  momentOption,
  shiftMoment,
  startOfDay,
} from '../../../src/kit/time/moment.ts';

describe('momentOption', () => {
  it.each([
    ['2026-11-18T10:00:00Z', '2026-11-18T10:00:00Z'],
    ['2026-11-18 10:00:00z', '2026-11-18T10:00:00Z'],
    ['2026-11-18T10:00:00.5+02:00', '2026-11-18T08:00:00.500000Z'],
    ['2026-11-18T10:00:00.1234569Z', '2026-11-18T10:00:00.123456Z'],
    ['2026-01-01T00:30:00+05:45', '2025-12-31T18:45:00Z'],
    ['2026-11-18T10:00:00-18:00', '2026-11-19T04:00:00Z'],
    ['2024-02-29T23:59:59.999999Z', '2024-02-29T23:59:59.999999Z'],
    ['1969-12-31T23:59:59.999999Z', '1969-12-31T23:59:59.999999Z'],
    ['0050-01-01T00:00:00Z', '0050-01-01T00:00:00Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00Z'],
    ['9998-12-31T23:59:59Z', '9998-12-31T23:59:59Z'],
  ])('reads %s as %s', (text, moment) => {
    expect(momentOption(text)).toBe(moment);
  });

  it.each([
    '2026-11-18T10:00:00',
    '2026-11-18T10:00Z',
    '2026-11-18',
    'yesterday',
    '',
    '2026-02-29T10:00:00Z',
    '2026-13-01T10:00:00Z',
    '2026-00-10T10:00:00Z',
    '2026-11-18T24:00:00Z',
    '2026-11-18T10:60:00Z',
    '2026-11-18T10:00:60Z',
    '2026-11-18T10:00:00+18:01',
    '2026-11-18T10:00:00+02:60',
    '2026-11-18T10:00:00.Z',
    ' 2026-11-18T10:00:00Z',
    '2026-11-18T10:00:00Z\n',
    '２026-11-18T10:00:00Z',
    '9999-01-01T00:00:00Z',
    '9999-12-31T23:59:59Z',
    '0000-01-01T00:00:00Z',
    '0001-01-01T00:00:00+00:01',
  ])('refuses %j, naming the option and what is wanted', (text) => {
    expect(() => momentOption(text, '--as-of')).toThrow(UsageError);
    expect(() => momentOption(text, '--as-of')).toThrow(/--as-of .*2026-11-18T10:00:00Z/s);
  });
});

describe('moments', () => {
  const microseconds = fc.bigInt({ min: -62_135_596_800_000_000n, max: 253_402_300_799_999_999n });

  it('lose no microsecond on the way to text and back', () => {
    fc.assert(fc.property(microseconds, (value) => microsecondsOf(momentOf(value)) === value));
  });

  it('compare by time where their texts would not', () => {
    fc.assert(
      fc.property(microseconds, microseconds, (left, right) => {
        const expected = left < right ? -1 : left > right ? 1 : 0;
        expect(compareMoments(momentOf(left), momentOf(right))).toBe(expected);
      }),
    );
    expect(compareMoments('2026-11-18T10:00:00Z', '2026-11-18T10:00:00.000001Z')).toBe(-1);
  });

  it('shift by microseconds', () => {
    expect(shiftMoment('2026-11-18T00:00:00Z', -1n)).toBe('2026-11-17T23:59:59.999999Z');
  });

  it('come from a clock and become a Date', () => {
    expect(momentOfMilliseconds(1_795_000_000_123)).toBe('2026-11-18T11:06:40.123000Z');
    expect(dateOf('2026-11-18T11:06:40.123456Z').getTime()).toBe(1_795_000_000_123);
  });

  it('that are no moments are refused', () => {
    expect(() => dayOf('2026-11-18')).toThrow(RangeError);
  });
});

describe('days', () => {
  it('hold their first and their last microsecond, and no other', () => {
    const day = '2026-12-31';
    expect(dayOf(startOfDay(day))).toBe(day);
    expect(dayOf(endOfDay(day))).toBe(day);
    expect(dayOf(shiftMoment(startOfDay(day), -1n))).toBe('2026-12-30');
    expect(dayOf(shiftMoment(endOfDay(day), 1n))).toBe('2027-01-01');
  });

  it('are counted across months and leap days', () => {
    expect(addDays('2024-02-28', 2)).toBe('2024-03-01');
    expect(addDays('2026-01-01', -1)).toBe('2025-12-31');
  });

  it('are read from an option', () => {
    expect(dayOption('2024-02-29', '--from')).toBe('2024-02-29');
    for (const text of ['2026-02-29', '2026-2-1', '2026-11-18T00:00:00Z', '']) {
      expect(() => dayOption(text, '--from')).toThrow(/^--from /);
    }
  });
});
