import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, it } from 'vitest';
import { readTimestamp } from '../../../src/kit/time/timestamp-text.ts';
import { momentInZone } from '../../../src/kit/time/zone.ts';
import { zonedTime } from '../../../src/kit/time/zoned-time.ts';

const wallClock = new Date('2026-03-01T12:00:00Z');
const read = (text: string, zone?: string) => readTimestamp(text, wallClock, zone);

describe('timestamps', () => {
  it.each([
    ['2026-02-28T10:00:00Z', '2026-02-28T10:00:00Z'],
    ['2026-02-28 10:00:00z', '2026-02-28T10:00:00Z'],
    ['2026-02-28t10:00:00.5+02:00', '2026-02-28T08:00:00.500000Z'],
    ['2026-02-28T10:00:00.1234569-05:30', '2026-02-28T15:30:00.123456Z'],
    ['2026-02-28T00:00:00+18:00', '2026-02-27T06:00:00Z'],
    ['2026-02-28T00:00:00-18:00', '2026-02-28T18:00:00Z'],
    ['2026-02-28T00:00:00-00:00', '2026-02-28T00:00:00Z'],
    ['2024-02-29T23:59:59.999999Z', '2024-02-29T23:59:59.999999Z'],
    ['1969-12-31T23:59:59.999999Z', '1969-12-31T23:59:59.999999Z'],
    ['2026-03-02T12:00:00Z', '2026-03-02T12:00:00Z'],
    ['2016-12-31T23:59:60Z', '2016-12-31T23:59:59.999999Z'],
    ['2016-12-31t15:59:60.5-08:00', '2016-12-31T23:59:59.999999Z'],
    ['2017-01-01 05:44:60+05:45', '2016-12-31T23:59:59.999999Z'],
    ['2026-02-28T23:59:60.0z', '2026-02-28T23:59:59.999999Z'],
    ['2026-02-28T10:00Z', '2026-02-28T10:00:00Z'],
    ['2026-02-28T10:00:00+02', '2026-02-28T08:00:00Z'],
    ['2026-02-28T10:00:00 +0200', '2026-02-28T08:00:00Z'],
    ['2026-02-28T10:00:00 UTC', '2026-02-28T10:00:00Z'],
    ['1772272800', '2026-02-28T10:00:00Z'],
  ])('reads %s', (text, moment) => {
    expect(read(text)).toEqual({ moment });
  });

  it.each([
    '',
    'yesterday',
    '2026-02-28',
    '2026-02-30T10:00:00Z',
    '2025-02-29T10:00:00Z',
    '2026-13-01T10:00:00Z',
    '2026-02-28T24:00:00Z',
    '2026-02-28T10:60:00Z',
    '2026-02-28T10:00:60Z',
    '2026-02-28T10:00:00+18:01',
    '2026-02-28T10:00:00+99:00',
    '2016-12-31T23:59:61Z',
    '2016-12-30T23:59:60Z',
    '2016-12-31T23:59:60+01:00',
    '2016-12-31T23:60:60Z',
    '2016-12-31T23:59:60.Z',
    '0000-12-31T23:59:60Z',
    '9999-12-31T23:59:60-00:01',
    '2026-02-28T10:00:00.Z',
    '2026-02-28T10:00:00,5Z',
    '2026/02/28T10:00:00Z',
    '2026-02-28  10:00:00Z',
    'epoch',
    'infinity',
    '0001-01-01T00:00:00+01:00',
    '12026-01-01T00:00:00Z',
  ])('refuses %j as malformed', (text) => {
    expect(read(text)).toEqual({ fault: 'malformed' });
    expect(read(text, 'Europe/Berlin')).toEqual({ fault: 'malformed' });
  });

  it('refuses one without an offset unless a zone is configured', () => {
    expect(read('2026-02-28T10:00:00')).toEqual({ fault: 'timestamp_without_offset' });
    expect(read('2026-02-28T10:00:00.25', 'Europe/Berlin')).toEqual({ moment: '2026-02-28T09:00:00.250000Z' });
    expect(read('2017-01-01T00:59:60', 'Europe/Berlin')).toEqual({ moment: '2016-12-31T23:59:59.999999Z' });
    expect(read('2016-12-31T23:59:60', 'Europe/Berlin')).toEqual({ fault: 'malformed' });
    expect(read('2016-12-31T23:59:60')).toEqual({ fault: 'timestamp_without_offset' });
    expect(read('2026-02-28T10:00:00Z', 'Europe/Berlin')).toEqual({ moment: '2026-02-28T10:00:00Z' });
  });

  it('refuses more than 24 hours ahead of the wall clock, to the microsecond', () => {
    expect(read('2026-03-02T12:00:00.000001Z')).toEqual({ fault: 'future_timestamp' });
    expect(read('2026-03-02T13:00:00.000000+01:00')).toEqual({ moment: '2026-03-02T12:00:00Z' });
  });
});

describe('times of a zone', () => {
  it('agree with how DuckDB reads the logs, also where clocks jump', async () => {
    const zones = [
      'Europe/Berlin',
      'America/New_York',
      'Australia/Lord_Howe',
      'Asia/Kolkata',
      'Pacific/Apia',
      'UTC',
      '+02:00',
      '-0330',
      '-18:00',
    ];
    // Half hours around the changes of the clock, and some ordinary ones.
    const starts = [
      '2026-03-29T00:00:00Z',
      '2026-10-25T00:00:00Z',
      '2026-03-08T00:00:00Z',
      '2026-11-01T00:00:00Z',
      '2026-04-05T00:00:00Z',
      '2026-10-04T00:00:00Z',
      '2026-07-01T00:00:00Z',
    ];
    const faces = starts.flatMap((start) =>
      Array.from({ length: 10 }, (_, step) => Date.parse(start) + step * 1_800_000),
    );
    const connection = await (await DuckDBInstance.create(':memory:')).connect();
    for (const zone of zones) {
      const rows = (
        await connection.runAndReadAll(
          `SELECT face::VARCHAR, epoch_ms(${momentInZone('make_timestamp(face * 1000)', zone)})::VARCHAR FROM (SELECT unnest([${faces.join(', ')}]) AS face)`,
        )
      ).getRows();
      expect(rows.map(([face]) => [face, String(zonedTime(Number(face), zone))])).toEqual(rows);
    }
    connection.closeSync();
  });
});
