import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const owner = 'src/warehouse/stale-partitions.ts';
/** The tables of marks, and the keys of the metadata that says what the marts were computed from. */
const marks = /\b(touched_days|outdated_reports|touched_postback_days|marts_change_number|marts_as_of)\b/;

const sources = ['src', 'pipelines']
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
  )
  .filter((name) => name.endsWith('.ts'));

it('only one file knows how it is kept what is stale', () => {
  const naming = sources.filter((name) =>
    marks.test(readFileSync(join(root, name), 'utf8').replaceAll(/\/\*[^]*?\*\/|\/\/.*/g, '')),
  );
  // Beside it the types of the tables, which are generated.
  expect(naming.toSorted()).toEqual([owner, 'src/warehouse/tables.ts']);
});
