import { describe, expect, it } from 'vitest';
import { isReadableName } from '../../../src/kit/vocabulary/landing-formats.ts';
import { landingName, leftOutFor, type ListedObject } from '../../../src/sources/s3/listed-object.ts';

const object = (key: string, other: Partial<ListedObject> = {}): ListedObject => ({
  key,
  etag: '"e1"',
  bytes: 10,
  modified: Date.parse('2026-11-18T10:00:00.250Z'),
  storageClass: 'STANDARD',
  ...other,
});

describe('a listed object', () => {
  it.each([
    ['logs/2026/a.ndjson', {}, undefined],
    ['logs/A.CSV.GZ', {}, undefined],
    ['logs/a.parquet', { storageClass: 'GLACIER_IR' }, undefined],
    ['logs/', { bytes: 0 }, 'folder'],
    ['logs/2026/', {}, 'folder'],
    ['logs/a.ndjson', { bytes: 0 }, 'empty'],
    ['logs/a.log', {}, 'unread_ending'],
    ['logs/a', {}, 'unread_ending'],
    ['logs/a.parquet.gz', {}, 'unread_ending'],
    ['logs/_SUCCESS', { bytes: 0 }, 'unfinished'],
    ['logs/_temporary/0/a.ndjson', {}, 'unfinished'],
    ['logs/a.ndjson.part', {}, 'unfinished'],
    ['logs/a.ndjson', { storageClass: 'DEEP_ARCHIVE' }, 'archived'],
  ] as const)('%s %j is left out as %s', (key, other, reason) => {
    expect(leftOutFor(object(key, other), 'logs/')).toBe(reason);
  });

  it('may lie under a prefix that looks unfinished: only what is beneath it counts', () => {
    expect(leftOutFor(object('_out/logs-1/a.csv'), '_out/logs')).toBeUndefined();
  });

  it('gives a name that landing reads, in the order of their making', () => {
    const name = landingName('b', object('logs/edge fra/Größe 1.CSV.gz'));
    expect(name).toMatch(/^20261118T100000Z-Gr-e-1-[0-9a-f]{16}\.csv\.gz$/);
    expect(isReadableName(name)).toBe(true);
    const later = landingName('b', object('logs/a.csv', { modified: Date.parse('2026-11-18T10:00:01Z') }));
    expect(later > name).toBe(true);
  });

  it('gives names of their own to the same last part, another bucket, content or time', () => {
    const names = [
      landingName('b', object('x/a.csv')),
      landingName('b', object('y/a.csv')),
      landingName('c', object('x/a.csv')),
      landingName('b', object('x/a.csv', { etag: '"e2"' })),
      landingName('b', object('x/a.csv', { modified: 0 })),
    ];
    expect(new Set(names).size).toBe(names.length);
    expect(landingName('b', object('x/a.csv'))).toBe(names[0]);
  });

  it('gives a name that a file system takes', () => {
    const name = landingName('b', object(`logs/${'ü/'.repeat(10)}..${'a'.repeat(900)}.ndjson`));
    expect(name.length).toBeLessThan(200);
    expect(landingName('b', object('logs/☃.json'))).toMatch(/^20261118T100000Z---[0-9a-f]{16}\.json$/);
  });
});
