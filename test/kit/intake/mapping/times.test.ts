import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hasOwnOffset, timeReader } from '../../../../src/kit/intake/mapping/times.ts';
import { momentOf } from '../../../../src/kit/time/moment.ts';

function read(text: string, time?: string, zone?: string): string | undefined {
  return timeReader(time, zone)(text);
}

describe('times since the epoch', () => {
  it('are read in their unit, digits past microseconds cut', () => {
    expect(read('1794996000', 'epoch_s')).toBe('2026-11-18T10:00:00Z');
    expect(read('1794996000.123', 'epoch_s')).toBe('2026-11-18T10:00:00.123000Z');
    expect(read('1.794996E9', 'epoch_s')).toBe('2026-11-18T10:00:00Z');
    expect(read(' 1794996000123 ', 'epoch_ms')).toBe('2026-11-18T10:00:00.123000Z');
    expect(read('1794996000123456', 'epoch_us')).toBe('2026-11-18T10:00:00.123456Z');
    expect(read('1794996000123456999', 'epoch_ns')).toBe('2026-11-18T10:00:00.123456Z');
    expect(read('-0.0000001', 'epoch_s')).toBe('1969-12-31T23:59:59.999999Z');
  });

  it('are none outside of the calendar or in another form', () => {
    for (const text of ['1794996000000', '2026-11-18T10:00:00Z', '', '99999999999999999999'])
      expect(read(text, 'epoch_s')).toBeUndefined();
  });
});

describe('times by a pattern', () => {
  it.for([
    ['%d/%b/%Y:%H:%M:%S %z', '18/Nov/2026:12:00:00 +0200', '2026-11-18T10:00:00Z'],
    ['%a, %d %b %Y %H:%M:%S %Z', 'Wed, 18 Nov 2026 10:00:00 GMT', '2026-11-18T10:00:00Z'],
    ['%A %e. %B %Y %I:%M %p %z', 'wednesday  8. november 2026  1:05 p.m. -05:30', '2026-11-08T18:35:00Z'],
    ['%m/%d/%y %I:%M:%S %p %Z', '1/2/69 12:00:00 AM UTC', '1969-01-02T00:00:00Z'],
    ['%Y%m%d%H%M%S%f%z', '20261118100000123456Z', '2026-11-18T10:00:00.123456Z'],
    ['%Y-%j %H:%M %z', '2024-366 10:00 +00', '2024-12-31T10:00:00Z'],
    ['%s.%f', '1794996000.5', '2026-11-18T10:00:00.500000Z'],
    ['%Y-%m-%dT%H:%M:%S.%f%z', '2026-11-18T10:00:00Z', '2026-11-18T10:00:00Z'],
    ['%d.%m.%Y', '18.11.2026', '2026-11-18T00:00:00'],
    ['%d.%m.%Y %H:%M', '18.11.2026 10:00', '2026-11-18T10:00:00'],
    ['100%% %Y-%m-%d %H:%M:%S %z', '100% 2016-12-31 23:59:60 +00:00', '2016-12-31T23:59:59.999999Z'],
  ] as const)('%s reads %s', ([pattern, text, moment]) => {
    expect(read(text, pattern)).toBe(moment);
  });

  it.for([
    ['%d/%m/%Y', '30/02/2026'],
    ['%d/%m/%Y', '12/13/2026'],
    ['%d/%m/%Y', '2026-11-18'],
    ['%Y%m%d', '2026118'],
    ['%Y-%j', '2026-366'],
    ['%d/%m/%Y %H:%M %z', '18/11/2026 10:00 +19:00'],
    ['%d/%m/%Y %I:%M %p', '18/11/2026 13:00 pm'],
    ['%Y-%m-%d %H:%M:%S', '2026-11-18 10:00:00 +00:00'],
    ['%Y-%m-%d %H:%M:%S', '2026-11-18 24:00:00'],
    ['%Y-%m-%d %H:%M:%S %z', '2026-11-18 10:00:60 +00:00'],
  ] as const)('%s does not read %s', ([pattern, text]) => {
    expect(read(text, pattern)).toBeUndefined();
  });

  it.for([
    ['%Y-%m', 'names no day: it needs a year, a month and a day, or %s'],
    ['%Y-%m-%d %Q', /^has %Q, which is none of %Y /],
    ['%Y-%m-%d %', /^has %, which is none of /],
    ['%Y-%m-%d %d', 'says the day twice'],
    ['%Y-%m-%b-%d', 'says the month twice'],
    ['%Y-%m-%d %I', 'has %I without %p, or %p without %I'],
    ['%Y-%m-%dT%H:%M:%SZ', 'ends in Z as mere text: write %z, which reads it'],
    ['%Y-%m-%d %H:%M UTC', 'ends in UTC as mere text: write %Z, which reads it'],
    ['%s %H', 'has %s, which says all, and the hour'],
  ] as const)('%s is no pattern', ([pattern, problem]) => {
    expect(() => timeReader(pattern, undefined)).toThrow(problem);
  });
});

describe('times without an offset', () => {
  it('are those of the zone, over both clock changes', () => {
    const berlin = (text: string) => read(text, '%d.%m.%Y %H:%M:%S', 'Europe/Berlin');
    expect(berlin('18.11.2026 10:00:00')).toBe('2026-11-18T09:00:00Z');
    expect(berlin('29.03.2026 02:30:00')).toBe('2026-03-29T01:30:00Z');
    expect(berlin('25.10.2026 01:59:59')).toBe('2026-10-24T23:59:59Z');
    expect(berlin('25.10.2026 02:30:00')).toBe('2026-10-25T01:30:00Z');
  });

  it('are those of a fixed offset', () => {
    for (const zone of ['+02:00', '+0200', '+02'])
      expect(read('18.11.2026 10:00', '%d.%m.%Y %H:%M', zone)).toBe('2026-11-18T08:00:00Z');
  });

  it('are read by a zone alone where they are written as ours; all others are passed on', () => {
    expect(read('2026-11-18 10:00', undefined, 'Europe/Berlin')).toBe('2026-11-18T09:00:00Z');
    expect(read('2026-11-18T10:00:00.25', undefined, '+01:00')).toBe('2026-11-18T09:00:00.250000Z');
    expect(read('2026-11-18 10:00:00 UTC', undefined, '+01:00')).toBe('2026-11-18 10:00:00 UTC');
    expect(read('2026-02-30 10:00', undefined, '+01:00')).toBeUndefined();
  });
});

it('knows which times say their own offset', () => {
  expect(['epoch_ms', '%s', '%Y-%m-%d %z', '%Y-%m-%d %Z', '%Y-%m-%d'].map(hasOwnOffset)).toEqual([
    true,
    true,
    true,
    true,
    false,
  ]);
});

const months = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October'];
const monthNames = [...months, 'November', 'December'];
const dates = ['%Y-%m-%d', '%d/%b/%Y', '%e. %B %Y', '%m/%d/%Y', '%Y%m%d', '%Y-%j'];
const clocks = ['%H:%M:%S.%f', '%I:%M:%S.%f %p', '%H%M%S,%f'];

/** Writes a moment as strftime does, with the offset in minutes. */
function written(micros: bigint, pattern: string, offset: number): string {
  const local = micros + BigInt(offset) * 60_000_000n;
  const fraction = ((local % 1_000_000n) + 1_000_000n) % 1_000_000n;
  const date = new Date(Number((local - fraction) / 1000n));
  const pad = (value: number, length = 2) => String(value).padStart(length, '0');
  const year = date.getUTCFullYear();
  const minutes = Math.abs(offset);
  const parts: Record<string, string> = {
    Y: pad(year, 4),
    m: pad(date.getUTCMonth() + 1),
    d: pad(date.getUTCDate()),
    e: String(date.getUTCDate()).padStart(2, ' '),
    j: pad(Math.round((Date.UTC(2000, date.getUTCMonth(), date.getUTCDate()) - Date.UTC(2000, 0, 0)) / 86_400_000), 3),
    b: (monthNames[date.getUTCMonth()] as string).slice(0, 3),
    B: monthNames[date.getUTCMonth()] as string,
    H: pad(date.getUTCHours()),
    I: pad(date.getUTCHours() % 12 || 12),
    p: date.getUTCHours() < 12 ? 'AM' : 'PM',
    M: pad(date.getUTCMinutes()),
    S: pad(date.getUTCSeconds()),
    f: pad(Number(fraction), 6),
    z: `${offset < 0 ? '-' : '+'}${pad(Math.floor(minutes / 60))}${pad(minutes % 60)}`,
  };
  const isLeap = new Date(Date.UTC(year, 1, 29)).getUTCMonth() === 1 && year >= 100;
  if (!isLeap && date.getUTCMonth() > 1) parts['j'] = pad(Number(parts['j']) - 1, 3);
  return pattern.replaceAll(/%(\w)/g, (_, letter: string) => parts[letter] as string);
}

it('gives back any moment that was written by a pattern', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: -59_000_000_000_000_000n, max: 250_000_000_000_000_000n }),
      fc.constantFrom(...dates),
      fc.constantFrom(...clocks),
      fc.integer({ min: -18 * 60, max: 18 * 60 }),
      (micros, date, clock, offset) => {
        const pattern = `${date} ${clock} %z`;
        expect(read(written(micros, pattern, offset), pattern)).toBe(momentOf(micros));
      },
    ),
    { numRuns: 500 },
  );
});
