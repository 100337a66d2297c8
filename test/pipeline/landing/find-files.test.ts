import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { findLandingFiles } from '../../../src/pipeline/landing/files/find-files.ts';

async function withLanding<T>(paths: readonly string[], work: (landing: string) => Promise<T>): Promise<T> {
  const landing = await mkdtemp(join(tmpdir(), 'offerline-find-'));
  try {
    for (const path of paths) {
      await mkdir(dirname(join(landing, path)), { recursive: true });
      await writeFile(join(landing, path), path);
    }
    return await work(landing);
  } finally {
    await rm(landing, { recursive: true });
  }
}

const found = (paths: readonly string[]) => withLanding(paths, findLandingFiles);

it('finds every format, at any depth, by path ascending', async () => {
  const { files, ignored } = await found([
    'clicks/b.parquet',
    'clicks/a.json',
    'clicks/2026/11/x.ndjson',
    'clicks/a.json.gz',
    'clicks/a.txt',
    'clicks/t.TSV.zip',
    'clicks/w.xlsx',
    'conversions/c.JSONL',
    'conversions/c.csv.GZ',
    'conversions/c.csv.bz2',
    'conversions/c.jsonl.ZST',
    'offers/net/deep/o.ndjson.gz',
  ]);
  expect(files.map(({ kind, source, path }) => [kind, source, path])).toEqual([
    ['clicks', null, 'clicks/2026/11/x.ndjson'],
    ['clicks', null, 'clicks/a.json'],
    ['clicks', null, 'clicks/a.json.gz'],
    ['clicks', null, 'clicks/a.txt'],
    ['clicks', null, 'clicks/b.parquet'],
    ['clicks', null, 'clicks/t.TSV.zip'],
    ['clicks', null, 'clicks/w.xlsx'],
    ['conversions', null, 'conversions/c.JSONL'],
    ['conversions', null, 'conversions/c.csv.GZ'],
    ['conversions', null, 'conversions/c.csv.bz2'],
    ['conversions', null, 'conversions/c.jsonl.ZST'],
    ['offers', 'net', 'offers/net/deep/o.ndjson.gz'],
  ]);
  expect(ignored).toEqual([]);
});

it('does not look at names that are not meant for it, nor into such folders', async () => {
  expect(
    await found([
      'clicks/.hidden.ndjson',
      'clicks/_SUCCESS',
      'clicks/_half/a.ndjson',
      'clicks/.git/a.ndjson',
      'clicks/a.ndjson.tmp',
      'clicks/a.ndjson.part',
      'clicks/going.part/a.ndjson',
      'elsewhere/a.ndjson',
      'a.ndjson',
    ]),
  ).toEqual({ files: [], ignored: [] });
});

it('says what it leaves aside', async () => {
  const { files, ignored } = await found([
    'clicks/a.xls',
    'clicks/a.xml',
    'clicks/a',
    'clicks/a.gz',
    'clicks/a.csv.rar',
    'clicks/a.csv.gz.gz',
    'clicks/a.parquet.gz',
    'clicks/back\\slash.csv',
    'clicks/two\nlines.csv',
    'clicks/ndjson',
    'offers/top.csv',
  ]);
  expect(files).toEqual([]);
  expect(ignored.map(({ path }) => path).toSorted()).toEqual([
    'clicks/a',
    'clicks/a.csv.gz.gz',
    'clicks/a.csv.rar',
    'clicks/a.gz',
    'clicks/a.parquet.gz',
    'clicks/a.xls',
    'clicks/a.xml',
    'clicks/back\\slash.csv',
    'clicks/ndjson',
    'clicks/two\nlines.csv',
    'offers/top.csv',
  ]);
});

it('takes a folder named like a file for a folder', async () => {
  expect((await found(['clicks/a.ndjson/b.csv'])).files.map(({ path }) => path)).toEqual(['clicks/a.ndjson/b.csv']);
});

it('a landing folder that is missing or empty has no files', async () => {
  expect(await withLanding([], (landing) => findLandingFiles(join(landing, 'nowhere')))).toEqual({
    files: [],
    ignored: [],
  });
  expect(await found([])).toEqual({ files: [], ignored: [] });
});

it('follows links to files and folders, but not round in circles or into nothing', async () => {
  await withLanding(['clicks/a/one.ndjson', 'clicks/.store/two.ndjson'], async (landing) => {
    await symlink('.store/two.ndjson', join(landing, 'clicks/two.ndjson'));
    await symlink('.store', join(landing, 'clicks/linked'));
    await symlink('..', join(landing, 'clicks/a/up'));
    await symlink('itself.csv', join(landing, 'clicks/itself.csv'));
    await symlink('gone.csv', join(landing, 'clicks/broken.csv'));
    expect((await findLandingFiles(landing)).files.map(({ path }) => path)).toEqual([
      'clicks/a/one.ndjson',
      'clicks/linked/two.ndjson',
      'clicks/two.ndjson',
    ]);
  });
});

it('leaves links aside that lead out of the landing folder, whatever they lead to, and says so', async () => {
  await withLanding(
    ['sites.json', 'elsewhere/c.ndjson', 'landing/clicks/a.ndjson', 'landing-2/d.ndjson'],
    async (data) => {
      const landing = join(data, 'landing');
      await symlink('../../sites.json', join(landing, 'clicks/secrets.ndjson'));
      await symlink(join(data, 'elsewhere'), join(landing, 'clicks/more'));
      await symlink('../elsewhere', join(landing, 'conversions'));
      await symlink('../../landing-2/d.ndjson', join(landing, 'clicks/d.ndjson'));
      await symlink('secrets.ndjson', join(landing, 'clicks/by-another-link.ndjson'));
      const { files, ignored } = await findLandingFiles(landing);
      expect(files.map(({ path }) => path)).toEqual(['clicks/a.ndjson']);
      expect(ignored.map(({ path }) => path).toSorted()).toEqual([
        'clicks/by-another-link.ndjson',
        'clicks/d.ndjson',
        'clicks/more',
        'clicks/secrets.ndjson',
        'conversions',
      ]);
      expect(new Set(ignored.map(({ why }) => why))).toEqual(
        new Set(['it is a link that leads out of the landing folder: copy what it leads to']),
      );
    },
  );
});

it('the landing folder may be a link itself', async () => {
  await withLanding(['real/clicks/a.ndjson', 'real/clicks/b/c.csv'], async (data) => {
    await symlink('real', join(data, 'landing'));
    await symlink('a.ndjson', join(data, 'real/clicks/linked.ndjson'));
    const { files, ignored } = await findLandingFiles(join(data, 'landing'));
    expect([files.map(({ path }) => path), ignored]).toEqual([
      ['clicks/a.ndjson', 'clicks/b/c.csv', 'clicks/linked.ndjson'],
      [],
    ]);
  });
});
