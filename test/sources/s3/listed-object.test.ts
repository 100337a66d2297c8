import { describe, expect, it } from 'vitest';
import { isReadableName, isUnfinishedName } from '../../../src/kit/vocabulary/landing-formats.ts';
import { partitionsOf } from '../../../src/pipeline/landing/lines/hive-partitions.ts';
import { landingPath, leftOutFor, type ListedObject } from '../../../src/sources/s3/listed-object.ts';

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
    ['logs/_x=1/a.parquet', {}, 'unfinished'],
    [`logs/x=${'1'.repeat(253)}/a.parquet`, {}, undefined],
    [`logs/x=${'1'.repeat(254)}/a.parquet`, {}, 'long_partition'],
    [`logs/x=${'1'.repeat(254)}/a.ndjson`, {}, undefined],
    [`logs/${'a=1/'.repeat(240)}a.parquet`, {}, undefined],
    [`logs/${'ü=/'.repeat(240)}a.parquet`, {}, 'long_partition'],
  ] as const)('%s %j is left out as %s', (key, other, reason) => {
    expect(leftOutFor(object(key, other), 'logs/')).toBe(reason);
  });

  it('may lie under a prefix that looks unfinished: only what is beneath it counts', () => {
    expect(leftOutFor(object('_out/logs-1/a.csv'), '_out/logs')).toBeUndefined();
  });

  it('gives a name that landing reads, in the order of their making', () => {
    const name = landingPath('b', object('logs/edge fra/Größe 1.CSV.gz'));
    expect(name).toMatch(/^20261118T100000Z-Gr-e-1-[0-9a-f]{16}\.csv\.gz$/);
    expect(isReadableName(name)).toBe(true);
    const later = landingPath('b', object('logs/a.csv', { modified: Date.parse('2026-11-18T10:00:01Z') }));
    expect(later > name).toBe(true);
  });

  it('gives names of their own to the same last part, another bucket, content or time', () => {
    const names = [
      landingPath('b', object('x/a.csv')),
      landingPath('b', object('y/a.csv')),
      landingPath('c', object('x/a.csv')),
      landingPath('b', object('x/a.csv', { etag: '"e2"' })),
      landingPath('b', object('x/a.csv', { modified: 0 })),
    ];
    expect(new Set(names).size).toBe(names.length);
    expect(landingPath('b', object('x/a.csv'))).toBe(names[0]);
  });

  it.each([
    ['logs/clicks/country=DE/data_0.parquet', 'country=DE/'],
    ['logs/site_key=beta/year=2026/x/country=C%C3%B4te/a.PARQUET', 'site_key=beta/year=2026/country=C%C3%B4te/'],
    ['_out=1/.hidden=2/t.tmp=v.part/..=../a.parquet', '%5Fout=1/%2Ehidden=2/t%2Etmp=v%2Epart/%2E%2E=%2E%2E/'],
    ['logs/a%2F..%2Fb=..%2F..%2Fetc/a.parquet', 'a%2F%2E%2E%2Fb=%2E%2E%2F%2E%2E%2Fetc/'],
    ['logs/half=50% off/sub1=Größe +1/a.parquet', 'half=50%25%20off/sub1=Gr%C3%B6%C3%9Fe%20%2B1/'],
    ['logs/a\\b=c\u0001%00*?/a.parquet', 'a%5Cb=c%01%00%2A%3F/'],
    ['logs/sub1=__HIVE_DEFAULT_PARTITION__/=x/sub2=/a.parquet', 'sub1=__HIVE_DEFAULT_PARTITION__/sub2=/'],
  ])('%s keeps the partitions of Parquet, whatever they are called', (key, folders) => {
    const path = landingPath('b', object(key));
    expect(path.slice(0, path.lastIndexOf('/') + 1)).toBe(folders);
    expect(partitionsOf(path)).toEqual(partitionsOf(key));
    for (const name of path.split('/')) {
      expect(isUnfinishedName(name), name).toBe(false);
      expect(name).toMatch(/^[\w.%=-]+$/);
    }
  });

  it.each(['logs/country=DE/a.ndjson', 'logs/country=DE/a.csv.gz'])('%s lands without a folder', (key) => {
    expect(landingPath('b', object(key))).toMatch(/^20261118T100000Z-a-/);
  });

  it('gives a name that a file system takes', () => {
    const name = landingPath('b', object(`logs/${'ü/'.repeat(10)}..${'a'.repeat(900)}.ndjson`));
    expect(name.length).toBeLessThan(200);
    expect(landingPath('b', object('logs/☃.json'))).toMatch(/^20261118T100000Z---[0-9a-f]{16}\.json$/);
  });
});
