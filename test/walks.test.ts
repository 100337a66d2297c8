import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (name: string) => readFileSync(join(root, name), 'utf8');

const page = 'src/README.md';

/** The numbered steps behind a heading of the page, each with the lines that go on with it. */
function stepsOf(heading: string): string[] {
  const text = read(page);
  const at = text.indexOf(`\n### ${heading}`);
  expect(at, `${page} has no heading that begins with "${heading}"`).toBeGreaterThan(0);
  const [section = ''] = text
    .slice(at + 1)
    .split(/^#+ /m)
    .slice(1);
  return [...section.matchAll(/^\d+\. .+(?:\n +.+)*$/gm)].map(([step]) => step);
}

const filesIn = (steps: readonly string[]) => [
  ...new Set(
    steps.flatMap((step) =>
      [...step.matchAll(/`((?:src|sql|pipelines)\/[\w/.-]+\.(?:ts|sql))`/g)].map(([, name = '']) => name),
    ),
  ),
];

/**
 * Whether a file's text leads to another one: by an import, or by naming the SQL model, as models do among their
 * inputs.
 */
function leadsTo(from: string, to: string): boolean {
  const text = read(from);
  const model = to.replace(/^.*\/|\.sql$/g, '');
  if (from.endsWith('.sql')) return new RegExp(`^-- inputs:.*\\b${model}\\b`, 'm').test(text);
  if (to.endsWith('.sql')) return new RegExp(`'${model}'`).test(text);
  return [...text.matchAll(/from '(\.{1,2}\/[^']+)'/g)].some(
    ([, name = '']) => relative(root, join(root, dirname(from), name)) === to,
  );
}

describe('the walks through the code', () => {
  it.each([
    ['A click,', 30, ['pipelines/refresh.ts']],
    ['A conversion,', 24, ['pipelines/refresh.ts', 'pipelines/postbacks.ts', 'src/models/models-stage.ts']],
    ['One request,', 15, ['src/serve/service.ts']],
  ])('%s crosses at most %i files, each led to by another', (heading, most, begin) => {
    const steps = stepsOf(heading);
    const files = filesIn(steps);
    expect(steps.length).toBeLessThanOrEqual(20);
    expect(files.filter((name) => !existsSync(join(root, name)))).toEqual([]);
    expect(files.length, files.join('\n')).toBeGreaterThan(12);
    expect(files.length, files.join('\n')).toBeLessThanOrEqual(most);
    // Models that others only name as parts of the day's marts are led to by the list of these.
    const leading = [...begin, ...files, 'src/models/day-marts.ts'];
    expect(files.filter((to) => !leading.some((from) => from !== to && leadsTo(from, to)))).toEqual([]);
  });

  it('names how many files a conversion crosses before its event is stored', () => {
    const steps = stepsOf('A click,').filter((step) => Number.parseInt(step, 10) <= 8);
    expect(read(page)).toContain(`steps 1 to 8: ${filesIn(steps).length} files`);
  });
});
