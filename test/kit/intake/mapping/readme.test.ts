import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { compileMapping } from '../../../../src/kit/intake/mapping/compile-mapping.ts';
import { fieldSchema } from '../../../../src/kit/intake/mapping/field-schema.ts';
import { fileMappingSchema } from '../../../../src/kit/intake/mapping/mapping-schema.ts';

const page = readFileSync(new URL('../../../../src/kit/intake/mapping/README.md', import.meta.url), 'utf8');
const rows = [...page.matchAll(/^\| (\S.*?) +\| (\S.*?) +\| /gm)].map(([, keys = '', example = '']) => ({
  keys,
  example,
}));

it('has a mapping that works', () => {
  const [, example = ''] = /```json\n([^]*?)```/.exec(page) ?? [];
  const mapping = compileMapping(fileMappingSchema.parse(JSON.parse(example)), 'conversions');
  const record = {
    Type: 'lead',
    'Transaction ID': 't1',
    aff_sub: '',
    sub1: 'c1',
    Date: '25.10.2026 02:30:00',
    State: 'Approved',
    Commission: '1.234,50 €',
  };
  expect(mapping.map(record)).toEqual({
    record: {
      conversion_id: 't1',
      click_id: 'c1',
      occurred_at: '2026-10-25T01:30:00Z',
      status: 'credit',
      payout: '1234.5',
      currency: 'EUR',
    },
    warnings: [],
  });
  expect(mapping.map({ Type: 'Total' })).toEqual({ passedOver: true });
});

it('has a row for every key, and examples that are fields', () => {
  const keys = keysOf(z.toJSONSchema(fieldSchema, { io: 'input' }));
  expect(keys).toContain('decimal');
  const documented = rows.flatMap((row) => [...row.keys.matchAll(/`(\w+)`/g)].map(([, key]) => key));
  expect(documented).toEqual(expect.arrayContaining(keys));
  const examples = rows.flatMap(({ example }) => [...example.matchAll(/`(\{.*?\})`/g)].map(([, json = '']) => json));
  expect(examples.length).toBeGreaterThan(12);
  for (const example of examples) expect(fieldSchema.safeParse(JSON.parse(example))).toMatchObject({ success: true });
});

/** The keys of a field and of its numbers. */
function keysOf({ anyOf = [] }: z.core.JSONSchema.BaseSchema): string[] {
  return anyOf.flatMap(({ properties = {} }) => [
    ...Object.keys(properties),
    ...Object.keys((properties['number'] as z.core.JSONSchema.BaseSchema | undefined)?.properties ?? {}),
  ]);
}
