import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { generateTables, tablesFile } from '../../../src/pipeline/warehouse/generate-tables.ts';

it('the checked-in types are those of the migrated schema', async () => {
  const current = await readFile(tablesFile, 'utf8');
  expect(current, 'run `npm run -s generate`').toBe(await generateTables());
});
