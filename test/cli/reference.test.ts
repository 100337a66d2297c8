import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { environmentSchema } from '../../src/kit/config/environment.ts';
import { referencePages } from '../../src/cli/reference/pages.ts';
import { settingsOf } from '../../src/cli/reference/settings-page.ts';

it.each(referencePages)('$path is up to date', async ({ file, text }) => {
  expect(await readFile(file, 'utf8'), 'run `npm run -s generate`').toBe(await text());
});

it('each setting needs a description and, unless it is required, a default', () => {
  const schema = (rows: z.ZodType) => z.strictObject({ rows });
  expect(() => settingsOf(schema(z.int().default(5)))).toThrow('rows has no description');
  expect(() => settingsOf(schema(z.int().optional().describe('Rows at most')))).toThrow('rows has no default');
  expect(
    settingsOf(schema(z.int().min(1).max(9).default(5).meta({ unit: 'rows', description: 'Rows at most' }))),
  ).toEqual([{ path: 'rows', type: 'whole number 1–9', default: '`5`', unit: 'rows', meaning: 'Rows at most' }]);
});

it('environment variables that the code reads are described', () => {
  const ofProcesses = ['OFFERLINE_WRITER_EPOCH', 'OFFERLINE_DEMO_RECEIVER_PORT'];
  const named = execFileSync('git', ['grep', '-ohE', "'OFFERLINE_[A-Z_]+'", '--', 'src', 'pipelines'], {
    encoding: 'utf8',
  });
  const read = new Set(
    named
      .trim()
      .split('\n')
      .map((name) => name.slice(1, -1)),
  );
  expect([...read].filter((name) => !ofProcesses.includes(name) && !(name in environmentSchema.shape))).toEqual([]);
});
