import { z } from 'zod';
import { describeIssue } from '../../config/describe-issue.ts';

/**
 * A schema for a setting that has a short form and a full one. `z.union` would say only that neither fits; this one
 * decides by the form of the value and then names the key with the mistake.
 */
export function eitherForm<Short extends z.ZodType, Full extends z.ZodType>(
  isShort: (given: unknown) => boolean,
  short: Short,
  full: Full,
): z.ZodType<z.output<Short> | z.output<Full>, z.input<Short> | z.input<Full>> {
  const schema = z
    .unknown()
    .transform((given, context): z.output<Short> | z.output<Full> => {
      const read = (isShort(given) ? short : full).safeParse(given, { error: describeIssue });
      if (read.success) return read.data;
      context.issues.push(...(read.error.issues as z.core.$ZodRawIssue[]));
      return z.NEVER;
    })
    // The JSON Schema of a transformation says nothing by itself.
    .meta(computedMeta('anyOf', () => [jsonSchema(short), jsonSchema(full)]));
  return schema as unknown as z.ZodType<z.output<Short> | z.output<Full>, z.input<Short> | z.input<Full>>;
}

/** A schema for one value or a list of such, which gives a list. */
export function oneOrMore<Value extends z.ZodType>(value: Value): z.ZodType<z.output<Value>[]> {
  const list = z.array(value).min(1, 'is an empty list');
  return eitherForm(Array.isArray, list, value).transform((given) =>
    Array.isArray(given) ? (given as z.output<Value>[]) : [given],
  );
}

/**
 * A schema's metadata under one key, computed once it is asked for: only the documentation asks, and computing that of
 * all schemas would take a quarter of every command's start.
 */
export function computedMeta(key: string, compute: () => unknown): Record<string, unknown> {
  let value: unknown;
  return Object.defineProperty({}, key, { enumerable: true, get: () => (value ??= compute()) });
}

/** JSON Schema of what may be written. */
export function jsonSchema(schema: z.ZodType): Record<string, unknown> {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return rest;
}
