import { Argument, type Command } from 'commander';
import { z } from 'zod';
import { settingsSchema } from '../../../kit/config/settings.ts';
import { sitesSchema } from '../../../kit/sites/sites.ts';
import { sourcesSchema } from '../../../sources/config/sources-file.ts';
import type { CommandContext } from '../../context.ts';

/** Schemas of the files that people write, by the file's name. */
const schemas = {
  'offerline.json': settingsSchema,
  'sites.json': sitesSchema,
  'sources.json': sourcesSchema,
} as const satisfies Record<string, z.ZodType>;

export function addSchemaCommand(program: Command, context: CommandContext): void {
  program
    .command('schema')
    .summary('Prints the JSON Schema of a configuration file, so that an editor completes it')
    .description(
      'Prints the JSON Schema of a configuration file, so that an editor completes it and marks mistakes. For VS Code: save it as a file, and name that under "json.schemas" in its settings.',
    )
    .addArgument(new Argument('[file]', 'which file').choices(Object.keys(schemas)).default('offerline.json'))
    .action((file: keyof typeof schemas) => {
      context.print(`${JSON.stringify(jsonSchemaOf(file), null, 2)}\n`);
    });
}

/** The JSON Schema of what may be written into a file; what only a program can check is left out. */
export function jsonSchemaOf(file: keyof typeof schemas): object {
  return {
    ...z.toJSONSchema(schemas[file], {
      io: 'input',
      unrepresentable: 'any',
      override: ({ jsonSchema }) => describe(jsonSchema),
    }),
    title: `${file} of offerline`,
  };
}

/** Says in words of the description what the reference page has columns for, and editors do not know. */
function describe(schema: Record<string, unknown>): void {
  const { unit, absent, description } = schema;
  delete schema['takes'];
  delete schema['unit'];
  delete schema['absent'];
  const notes = [unit && `in ${unit as string}`, absent && `without it: ${absent as string}`].filter(Boolean);
  if (notes.length > 0)
    schema['description'] = `${(description as string | undefined) ?? ''} (${notes.join('; ')})`.trim();
}
