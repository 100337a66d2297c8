import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (name: string) => readFileSync(join(root, name), 'utf8');

/** The numbered steps behind a heading of a page. */
function stepsOf(page: string, heading: string): string[] {
  const text = read(page);
  const at = text.indexOf(`\n## ${heading}`);
  expect(at, `${page} has no heading that begins with "${heading}"`).toBeGreaterThan(0);
  return [...text.slice(at).matchAll(/^\d+\. .+$/gm)].map(([line]) => line);
}

const filesIn = (steps: readonly string[]) => [
  ...new Set(
    steps.flatMap((step) =>
      [...step.matchAll(/`((?:src|sql|pipelines)\/[\w/.-]+\.(?:ts|sql))`/g)].map(([, name = '']) => name),
    ),
  ),
];

/** Whether a file's text leads to another one: by an import, or by naming the SQL model. */
function leadsTo(from: string, to: string): boolean {
  const text = read(from);
  if (to.endsWith('.sql')) return new RegExp(`'${to.replace(/^.*\/|\.sql$/g, '')}'`).test(text);
  return [...text.matchAll(/from '(\.{1,2}\/[^']+)'/g)].some(
    ([, name = '']) => relative(root, join(root, dirname(from), name)) === to,
  );
}

describe('the walks through the code', () => {
  it.each([
    ['src/ingest/README.md', 'A click,', 30, ['pipelines/refresh.ts']],
    [
      'src/postbacks/README.md',
      'A conversion,',
      24,
      ['pipelines/refresh.ts', 'pipelines/postbacks.ts', 'src/models/models-stage.ts'],
    ],
  ])('%s: %s crosses at most %i files, each led to by another', (page, heading, most, begin) => {
    const steps = stepsOf(page, heading);
    const files = filesIn(steps);
    expect(steps.length).toBeLessThanOrEqual(20);
    expect(files.filter((name) => !existsSync(join(root, name)))).toEqual([]);
    expect(files.length, files.join('\n')).toBeGreaterThan(15);
    expect(files.length, files.join('\n')).toBeLessThanOrEqual(most);
    // Models that others only name as parts of the day's marts are led to by the list of these.
    const leading = [...begin, ...files, 'src/models/day-marts.ts'].filter((name) => name.endsWith('.ts'));
    expect(files.filter((to) => !leading.some((from) => from !== to && leadsTo(from, to)))).toEqual([]);
  });

  it('names how many files a conversion crosses before its event is stored', () => {
    const steps = stepsOf('src/ingest/README.md', 'A click,').filter((step) => Number.parseInt(step, 10) <= 9);
    expect(read('src/postbacks/README.md')).toContain(`steps 1 to 9: ${filesIn(steps).length} files`);
  });
});
