import { Argument, type Command } from 'commander';
import { z } from 'zod';
import { settingsSchema } from '../../../kit/config/settings.ts';
import { sitesSchema } from '../../../kit/sites/sites.ts';
import { sourcesSchema } from '../../../sources/config/sources-file.ts';
import { addCommand } from '../../answer.ts';
import type { CommandContext } from '../../context.ts';

/** Schemas of the files that people write, by the file's name. */
const schemas = {
  'offerline.json': settingsSchema,
  'sites.json': sitesSchema,
  'sources.json': sourcesSchema,
} as const satisfies Record<string, z.ZodType>;

export function addSchemaCommand(program: Command, context: CommandContext): void {
  addCommand(
    program,
    'schema',
    'Prints the JSON Schema of a configuration file, so that an editor completes it and marks mistakes',
    'For VS Code: save it as a file, and name that under "json.schemas" in its settings.',
  )
    .addArgument(new Argument('[file]', 'which file').choices(Object.keys(schemas)).default('offerline.json'))
    .action((file: keyof typeof schemas) => {
      context.print(`${JSON.stringify(jsonSchemaOf(file), null, 2)}\n`);
    });
}

/** The JSON Schema of what may be written into a file; what only a program can check is left out. */
export function jsonSchemaOf(file: keyof typeof schemas): object {
  const schema = z.toJSONSchema(schemas[file], { io: 'input', unrepresentable: 'any' });
  return { ...(inWords(schema) as object), title: `${file} of offerline` };
}

/**
 * A schema, and those within it, with words of the description for what the reference page has columns for and editors
 * do not know. Any JSON may stand where a part of a mapping refers to a definition of its own, which is elsewhere here.
 */
function inWords(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(inWords);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { unit, absent, description } = schema as Record<string, unknown>;
  const notes = [unit && `in ${unit as string}`, absent && `without it: ${absent as string}`].filter(Boolean);
  const said = [description, notes.length > 0 && `(${notes.join('; ')})`].filter(Boolean).join(' ');
  const kept = Object.entries(schema).filter(([key]) => !ours.has(key) && key !== 'description');
  return {
    ...Object.fromEntries(kept.map(([key, value]) => [key, partOf(key, value)])),
    ...(said !== '' && { description: said }),
  };
}

const ours = new Set(['takes', 'unit', 'absent', '$ref', '$defs']);

/** Properties are named by what people write, which may be called as a keyword is. */
function partOf(key: string, value: unknown): unknown {
  if (key === 'default' || key === 'const' || key === 'enum') return value;
  if (key !== 'properties') return inWords(value);
  return Object.fromEntries(Object.entries(value as object).map(([name, schema]) => [name, inWords(schema)]));
}
