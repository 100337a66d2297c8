import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, extname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Downhill: a folder imports only from itself and from those before it, in the order of the list in src/README.md. */
const layers = [
  ...readFileSync(join(root, 'src/README.md'), 'utf8').matchAll(/^\| `((?:src|pipelines)[\w/-]*)` \|/gm),
].map(([, folder = '']) => folder);

/**
 * Folders that must not reach others, not even by way of a third, although those stand before them; with the reason.
 */
const walls: [importer: string, imported: string, reason: string][] = [
  ['src/serve', 'src/pipeline/warehouse', 'the service reads published snapshots only'],
  ['src/serve', 'src/pipeline/ingest', 'the service reads published snapshots only'],
  ['src/serve', 'src/pipeline/models', 'the service reads published snapshots only'],
  ['src/serve', 'src/pipeline/maintenance', 'the service reads published snapshots only'],
  ['src/tracker', 'src/pipeline/warehouse', 'the tracker reads routes and published snapshots only'],
  ['src/tracker', 'src/pipeline/ingest', 'the tracker reads routes and published snapshots only'],
  ['src/tracker/clicks', 'src/pipeline/warehouse', 'the tracker never opens the warehouse'],
  ['src/tracker/conversions', 'src/pipeline/warehouse', 'the tracker never opens the warehouse'],
  ['src/pipeline/analysis', 'src/pipeline/ingest', 'analysts see published snapshots only'],
  ['src/pipeline/analysis', 'src/pipeline/models', 'analysts see published snapshots only'],
  ['src/console', 'src/pipeline/ingest', 'the console reads what is published, and acts by commands'],
  ['src/console', 'src/pipeline/models', 'the console reads what is published, and acts by commands'],
  ['src/console', 'pipelines', 'the console reads what is published, and acts by commands'],
  ['src/demo/generate', 'src/pipeline/warehouse', 'generated data comes in through landing files like any other'],
];

/** What is done in one place, by what it looks like in a source, and the only file that may look so. */
const onePlace: [pattern: RegExp, file: string, reason: string][] = [
  [
    /\bDuckDBInstance\b/,
    'src/kit/duckdb/open.ts',
    'that closes what it opens, keeps to UTC and never reaches for the network',
  ],
  [/'current link: switched'/, 'src/pipeline/snapshot/catalogue.ts', 'a link is switched in a single step'],
  [/readdir\([^)]*\bpublished\b/, 'src/pipeline/snapshot/catalogue.ts', 'all agree on what a snapshot is'],
];

const longestFile = 400;

/** Files of the repository: tracked ones, and new ones that git would not ignore. */
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\0')
  .filter((file) => file !== '' && exists(file));
const sources = files.filter((file) => /^(src|pipelines)\/.*\.(ts|mts|mjs|js)$/.test(file));
const models = files.filter((file) => /^sql\/(staging|marts)\/.*\.sql$/.test(file));

function exists(file: string): boolean {
  try {
    readFileSync(join(root, file));
    return true;
  } catch {
    // Removed, and git not told yet.
    return false;
  }
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

const importPatterns = [
  /(?:^|\n)\s*(?:import|export)\b[^'";]*?\bfrom\s*['"]([^'"]+)['"]/g,
  /(?:^|\n)\s*import\s*['"]([^'"]+)['"]/g,
  /\bimport\(\s*['"]([^'"]+)['"]/g,
];
/** A worker or a process that a file starts: it depends on that, but does not load it, so this closes no circle. */
const startPattern = /new URL\(\s*['"]([^'"]+\.[mc]?[tj]s)['"]\s*,\s*import\.meta\.url/g;

/** The repository's own files that a source imports or starts. */
function importsOf(text: string, file: string, patterns: RegExp[] = [...importPatterns, startPattern]): string[] {
  const names = patterns.flatMap((pattern) => [...text.matchAll(pattern)].map(([, name = '']) => name));
  return names.filter((name) => name.startsWith('.')).map((name) => relative(root, join(root, dirname(file), name)));
}

/** The innermost listed folder that a file is in. */
function layerOf(file: string): string | undefined {
  return layers.filter((layer) => file.startsWith(`${layer}/`)).toSorted((one, other) => other.length - one.length)[0];
}

/** What is wrong with the imports of the given files, by their texts. */
function importMistakes(texts: Map<string, string>): string[] {
  return [...texts].flatMap(([file, text]) =>
    importsOf(text, file).flatMap((imported) => {
      const [from, to] = [layerOf(file), layerOf(imported)];
      if (from === undefined) return [`${file} is in no layer: list its folder in src/README.md`];
      if (to === undefined) return [`${file} imports ${imported}, which is in no layer`];
      if (layers.indexOf(to) > layers.indexOf(from)) return [`${file} imports uphill: ${imported}`];
      return [];
    }),
  );
}

/** Files beyond a wall that are reached by imports. */
function breaches(texts: Map<string, string>): string[] {
  return walls.flatMap(([from, behind, reason]) => {
    const reached = new Set([...texts.keys()].filter((file) => file.startsWith(`${from}/`)));
    // A set also hands out what is added while it is walked through.
    for (const file of reached) for (const imported of importsOf(texts.get(file) ?? '', file)) reached.add(imported);
    return [...reached]
      .filter((file) => file.startsWith(`${behind}/`))
      .map((file) => `${from} reaches ${file}, but ${reason}`);
  });
}

/** The first circle of imports that is found, as the files along it. */
function circle(texts: Map<string, string>): string[] {
  const done = new Set<string>();
  function visit(file: string, path: string[]): string[] {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return [];
    for (const imported of importsOf(texts.get(file) ?? '', file, importPatterns)) {
      const found = visit(imported, [...path, file]);
      if (found.length > 0) return found;
    }
    done.add(file);
    return [];
  }
  for (const file of texts.keys()) {
    const found = visit(file, []);
    if (found.length > 0) return found;
  }
  return [];
}

/**
 * What a model says that only DuckDB understands, so that it could not run on a second engine; and what its opening
 * lacks.
 */
function modelMistakes(sql: string): string[] {
  const opening = /^(?:\s*--[^\n]*\n)+/.exec(sql)?.[0] ?? '';
  const code = sql
    .replaceAll(/--[^\n]*/g, ' ')
    .replaceAll(/\/\*[^]*?\*\//g, ' ')
    .replaceAll(/'(?:[^']|'')*'/g, "''");
  const foreign: [string, RegExp][] = [
    ['arg_max or arg_min', /\barg_(max|min)\w*\s*\(/i],
    ['a list aggregate', /\b(list|array_agg|list_\w+|array_\w+|unnest)\s*\(/i],
    ['a list type or literal', /\w\s*\[\s*\]|[=(,]\s*\[/],
    ['a struct literal', /\{|\b(struct_pack|row)\s*\(/i],
    ['MERGE', /\bMERGE\s+INTO\b/i],
    ['md5', /\bmd5\w*\s*\(/i],
    ['bool_or or bool_and', /\bbool_(or|and)\s*\(/i],
    ['count_if', /\bcount_?if\s*\(/i],
    ['range() or generate_series()', /\b(range|generate_series)\s*\(/i],
    [
      'the clock',
      /\b(now|today|get_current_\w+|transaction_timestamp)\s*\(|\b(current_(date|time|timestamp)|localtime(stamp)?)\b/i,
    ],
    ['file reading', /\b(read_(csv|json|parquet|text)\w*|parquet_scan|ATTACH)\b/i],
  ];
  const missing = ['grain:', 'inputs:'].filter((word) => !opening.includes(word));
  return [
    ...foreign.filter(([, pattern]) => pattern.test(code)).map(([name]) => `uses ${name}`),
    ...missing.map((word) => `its opening comment lacks "${word}"`),
  ];
}

const texts = new Map(sources.map((file) => [file, read(file)]));
/** The launcher runs before anything is installed and belongs to no layer; it may import nothing of the project. */
const layered = new Map([...texts].filter(([file]) => file !== 'src/launch.mjs'));

describe('imports', () => {
  it('go only downhill, between listed folders', () => {
    expect(layered.size).toBeGreaterThan(20);
    expect(
      layers.filter((layer) => !sources.some((file) => file.startsWith(`${layer}/`))),
      'listed folders that are gone',
    ).toEqual([]);
    expect(importMistakes(layered)).toEqual([]);
    expect(
      [...layered.keys()].filter((file) => layerOf(file) === undefined),
      'files outside of the listed folders',
    ).toEqual([]);
    expect(importsOf(texts.get('src/launch.mjs') ?? '', 'src/launch.mjs')).toEqual([]);
  });

  it('do not reach behind the walls', () => {
    expect(breaches(layered)).toEqual([]);
  });

  it('form no circle', () => {
    expect(circle(layered)).toEqual([]);
  });

  it('would be found out', () => {
    const uphill = new Map([['src/runs/a.ts', "import type {\n  B,\n} from '../serve/b.ts';"]]);
    expect(importMistakes(uphill)).toEqual(['src/runs/a.ts imports uphill: src/serve/b.ts']);
    const around = new Map([
      ['src/serve/a.ts', "import '../snapshot/b.ts'"],
      ['src/snapshot/b.ts', "await import('../warehouse/c.ts')"],
    ]);
    expect(importMistakes(around)).toEqual([]);
    expect(breaches(around)).toHaveLength(1);
    expect(importMistakes(new Map([['src/misc/a.ts', "import './b.ts';"]]))).toHaveLength(1);
    const round = new Map([
      ['src/a/a.ts', "export * from './b.ts';"],
      ['src/a/b.ts', "const a = await import('./a.ts');"],
    ]);
    expect(circle(round)).toEqual(['src/a/a.ts', 'src/a/b.ts', 'src/a/a.ts']);
  });
});

describe('one way for each thing', () => {
  it.each(onePlace)('%s stands in %s alone: %s', (pattern, file) => {
    expect([...texts].filter(([, text]) => pattern.test(text)).map(([name]) => name)).toEqual([file]);
  });
});

describe('files', () => {
  it(`are no longer than ${longestFile} lines`, () => {
    const lines = [...texts].map(([file, text]) => [file, text.split('\n').length] as const);
    expect(lines.filter(([, count]) => count > longestFile)).toEqual([]);
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

describe('models in sql/staging and sql/marts', () => {
  it('stay within what both engines understand, and open with their grain and inputs', () => {
    expect(models.length).toBeGreaterThan(15);
    expect(models.flatMap((file) => modelMistakes(read(file)).map((mistake) => `${file} ${mistake}`))).toEqual([]);
  });

  it('would be found out', () => {
    const opening = '-- Clicks by hour.\n-- grain: one row per hour\n-- inputs: clicks\n';
    const fine =
      "SELECT date_trunc('hour', clicked_at) AS hour, count(*) FILTER (WHERE device = '{md5(') AS clicks, now_active, ranges FROM clicks GROUP BY ALL -- no list() here\n";
    expect(modelMistakes(opening + fine)).toEqual([]);
    expect(modelMistakes(fine)).toHaveLength(2);
    for (const foreign of [
      'arg_max(a, b)',
      'list(a)',
      "{'a': 1}",
      'md5(a)',
      'bool_or(a)',
      'count_if(a)',
      'countIf(a)',
      '[1, 2]',
      'a::VARCHAR[]',
      'now()',
      'current_timestamp',
    ]) {
      expect(modelMistakes(`${opening}SELECT 1, ${foreign} FROM clicks`), foreign).not.toEqual([]);
    }
    expect(modelMistakes(`${opening}SELECT 1 FROM range(5)`)).toEqual(['uses range() or generate_series()']);
    expect(modelMistakes(`${opening}MERGE INTO a USING b ON true`)).toEqual(['uses MERGE']);
  });
});
