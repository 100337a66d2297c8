import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { programs } from '../release/bundle.ts';
import { laws } from '../vitest.config.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

const maxLines = 400;

/** Files of the repository: tracked ones, and new ones that git would not ignore. */
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\0')
  .filter((file) => file !== '' && exists(file));
const sources = files.filter((file) => /^(src|pipelines)\/.*\.(ts|mts|mjs|js)$/.test(file));

function exists(file: string): boolean {
  try {
    readFileSync(join(root, file));
    return true;
  } catch {
    // Removed, which git does not know yet.
    return false;
  }
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

const texts = new Map(sources.map((file) => [file, read(file)]));

describe('one place', () => {
  it.each([
    ['opens DuckDB, closes it, keeps to UTC and the machine', /\bDuckDBInstance\b/, 'src/kit/duckdb/open.ts'],
    [
      'replaces the link to the current snapshot, in a single step',
      /(?:rename|symlink|symbolicLink)(?:Sync)?\([^)]*\.current\b/,
      'src/pipeline/snapshot/snapshot-store.ts',
    ],
    [
      'lists the published folder, so that all agree on what a snapshot is',
      /readdir(?:Sync)?\([^)]*\bpublished\b/,
      'src/pipeline/snapshot/snapshot-store.ts',
    ],
    [
      'finds files of the package, which a bundle has elsewhere than its code',
      /new URL\([^)]*import\.meta|import\.meta\.(?:dirname|filename)/,
      'src/kit/files/package-files.ts',
    ],
  ])('%s', (_what, pattern, place) => {
    expect([...texts].filter(([, text]) => pattern.test(text)).map(([file]) => file)).toEqual([place]);
  });
});

it('programs of processes and threads are in the package', () => {
  const started = [...texts.values()].flatMap((text) =>
    [...text.matchAll(/programFile\('([^']+)'\)/g)].map(([, program = '']) => program),
  );
  expect([...new Set(started)].toSorted()).toEqual(programs.toSorted());
});

it('tests that try few examples in the suite try all where `npm run test:laws` asks for them', () => {
  const few = files.filter((file) => file.endsWith('.test.ts') && /from '[./]*support\/rounds\.ts'/.test(read(file)));
  expect(few.length).toBeGreaterThan(5);
  expect(few.filter((file) => !laws.some((path) => file.startsWith(path)))).toEqual([]);
  expect(laws.filter((path) => !few.some((file) => file.startsWith(path)))).toEqual([]);
});

it('no two files export the same name, so that a search for it finds one thing', () => {
  const exported = [...texts].flatMap(([file, text]) => {
    const names = text.matchAll(
      /^export (?:async |abstract )*(?:function\*?|const|let|class|interface|type|enum) (\w+)/gm,
    );
    // A schema and its type share a name, as do the overloads of a function.
    return [...new Set([...names].map(([, name = '']) => name))].map((name) => ({ name, file }));
  });
  const places = Map.groupBy(exported, ({ name }) => name);
  expect([...places.values()].filter((all) => all.length > 1)).toEqual([]);
});

describe('files', () => {
  it(`are no longer than ${maxLines} lines`, () => {
    const written = [...texts].filter(([, text]) => !text.startsWith('// Generated'));
    const lines = written.map(([file, text]) => [file, text.split('\n').length] as const);
    expect(lines.filter(([, count]) => count > maxLines)).toEqual([]);
  });

  it('keep comments within the 120 columns that the formatter keeps code in', () => {
    const long = [...texts].flatMap(([file, text]) =>
      text.split('\n').flatMap((line, index) => {
        const isComment = /^\s*(\/\/|\/\*\*|\* )/.test(line);
        return isComment && line.length > 120 ? [`${file}:${index + 1}`] : [];
      }),
    );
    expect(long).toEqual([]);
  });

  it('name no place of one machine', () => {
    // Anything under a user's home or a top folder that people work in; temporary and system folders are the same
    // everywhere.
    const place = /(?:^|[\s"'`(=:])(\/(?:home|root|Users|work|workspace|mnt)\/[^\s"'`)]+)/;
    const readable = files.filter((file) =>
      ['', '.ts', '.mjs', '.js', '.json', '.sql', '.md', '.yml', '.csv', '.txt'].includes(extname(file)),
    );
    const found = readable.flatMap((file) => {
      const path = place.exec(read(file))?.[1];
      return path === undefined ? [] : [`${file}: ${path}`];
    });
    expect(found).toEqual([]);
  });

  it('lock packages without the address they came from', () => {
    expect(read('package-lock.json')).not.toContain('"resolved":');
  });
});
