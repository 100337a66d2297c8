import { describe, expect, it } from 'vitest';
import { jsonSchemaOf } from '../../src/cli/commands/operators/schema.ts';

describe('offerline schema', () => {
  it.each(['offerline.json', 'sites.json', 'sources.json'] as const)(
    'describes %s in keywords that every editor knows',
    (file) => {
      const schema = jsonSchemaOf(file);
      expect(schema).toMatchObject({ $schema: expect.stringContaining('2020-12') as string, type: 'object' });
      const text = JSON.stringify(schema);
      for (const ours of ['"takes"', '"absent"', '"unit"']) expect(text).not.toContain(ours);
    },
  );

  it('completes mappings, whose fields may be called as a keyword is', () => {
    const text = JSON.stringify(jsonSchemaOf('offerline.json'));
    expect(text).toContain('Place of the list of milestones');
    expect(text).not.toContain('[object Object]');
    expect(text).not.toContain('$ref');
  });

  it('says units, defaults, and what holds where a key is absent', () => {
    expect(jsonSchemaOf('offerline.json')).toMatchObject({
      properties: {
        port: { default: 8080, maximum: 65_535 },
        public_url: { description: expect.stringContaining('(without it: the listening address)') as string },
        retention: {
          properties: {
            events: { description: expect.stringContaining('(in days; without it: all is kept)') as string },
          },
        },
      },
    });
  });
});
