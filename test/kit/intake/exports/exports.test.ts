import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { landingKinds } from '../../../../src/kit/vocabulary/values.ts';
import { workbook } from './write-workbook.ts';

const exports = new URL('../../../../data/exports/', import.meta.url);
const folders = readdirSync(exports, { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() ? [entry.name] : [],
);
const notData = ['mapping.json', 'expected.ndjson', 'events.ndjson'];

function read(path: string): string {
  return readFileSync(new URL(path, exports), 'utf8');
}

function lines(path: string): Record<string, unknown>[] {
  return read(path)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

it('there are exports of a dozen products, each on their page', () => {
  expect(folders.length).toBeGreaterThanOrEqual(12);
  const page = read('README.md');
  expect(folders.filter((folder) => !page.includes(`\n## \`${folder}/\``))).toEqual([]);
});

describe.each(folders)('%s', (folder) => {
  const mapping = JSON.parse(read(`${folder}/mapping.json`)) as { match: string; fields: Record<string, unknown> };
  const expected = lines(`${folder}/expected.ndjson`);
  const files = readdirSync(new URL(`${folder}/`, exports)).filter((file) => !notData.includes(file));

  it('is for one kind of records and ignores what else is in the landing folder', () => {
    expect(landingKinds).toContain(mapping.match.split('/')[0]);
    expect(mapping.match).toMatch(/^\w+\/\w+\/\*\*$/);
  });

  const others = expected.filter((row) => 'line' in row);

  it('expects of each record a row of mapped fields, a reason or that it is passed over', () => {
    // An offer is paused where its lists of countries leave nothing.
    const mapped = new Set([...Object.keys(mapping.fields), 'status']);
    const rows = expected.filter((row) => !('line' in row));
    expect(rows.flatMap((row) => Object.keys(row).filter((name) => !mapped.has(name)))).toEqual([]);
    expect(others.filter(({ reject, passed_over }) => (typeof reject === 'string') === (passed_over === true))).toEqual(
      [],
    );
    expect(others.filter(({ line }) => !Number.isSafeInteger(line) || Number(line) < 1)).toEqual([]);
    const named: (string | undefined)[] = files.length > 1 ? files : [undefined];
    expect(others.filter(({ file }) => !named.includes(file as string | undefined))).toEqual([]);
  });

  it('has rows that are good and rows that are not', () => {
    expect(others.length).toBeGreaterThan(0);
    expect(expected.length).toBeGreaterThan(others.length);
  });
});

it('the workbook is what its script writes', () => {
  expect(readFileSync(new URL('workbook-statement/statement.xlsx', exports)).equals(workbook())).toBe(true);
});
