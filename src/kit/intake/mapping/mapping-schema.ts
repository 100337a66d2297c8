import { posix } from 'node:path';
import { z } from 'zod';
import { describeIssue } from '../../config/describe-issue.ts';
import type { LandingKind } from '../../vocabulary/values.ts';
import { computedMeta, jsonSchema } from './either-form.ts';
import { eventsSchema, fieldSchema, withElse, type EventsMapping, type FieldMapping } from './field-schema.ts';
import { formatSchema } from './format-schema.ts';
import { mappedFields, type MappedFields } from './mapped-fields.ts';
import { rowsSchema } from './rows-schema.ts';

/** Our fields by where they stand in a record. */
export interface FieldMap {
  fields: Readonly<Record<string, FieldMapping>>;
  /** Milestones, of offers only. */
  events: EventsMapping | undefined;
}

/**
 * The schema of `fields` for records of a kind. `own`: what is otherwise where the records do not come from a landing
 * file.
 */
export function fieldsSchema(kind: LandingKind, own: Partial<MappedFields> = {}): z.ZodType<FieldMap> {
  const taken = { ...mappedFields[kind], ...own };
  const { names } = taken;
  const shape = Object.fromEntries(names.map((name) => [name, fieldSchema.optional()]));
  return z
    .strictObject(kind === 'offers' ? { ...shape, events: eventsSchema.optional() } : shape, {
      error: (issue) => unknownFields(issue, names),
    })
    .superRefine((given, context) => {
      const { events, ...fields } = given as Record<string, unknown>;
      for (const { message, path } of mistakesIn(fields as FieldMap['fields'], Object.keys(given), kind, taken))
        context.addIssue({ code: 'custom', message, path });
      for (const name of ['event_id', 'description', 'payout'] as const) {
        const field = (events as EventsMapping | undefined)?.[name];
        for (const { message, path } of field === undefined
          ? []
          : withElse(field).flatMap((each) => [...listKeys(each)]))
          context.addIssue({ code: 'custom', message, path: ['events', name, ...path] });
      }
    })
    .transform((given) => {
      const { events, ...fields } = given as Record<string, FieldMapping> & { events?: EventsMapping };
      return { fields, events };
    });
}

/** How the files of one glob are read. */
export const fileMappingSchema = z
  .strictObject({
    match: z
      .string()
      .max(500)
      .regex(/^(?:offers|clicks|conversions)\/./, 'does not begin with offers/, clicks/ or conversions/')
      .meta({
        takes: 'glob such as `clicks/voluum/**`',
        description: 'Files in the landing folder that it is for; the first that matches a file counts',
      }),
    format: formatSchema.default({}).describe('What the files are, where their bytes do not say it'),
    rows: rowsSchema.optional().meta({
      absent: 'all count',
      takes: 'condition, or list of such',
      description: 'Conditions, such as `{"at": "type", "is": ["lead"]}`, of records that count',
    }),
    fields: z
      .record(z.string(), z.unknown())
      .optional()
      .meta({
        absent: 'records are read as ours',
        takes: 'place or rules by field of ours',
        description: 'Where our fields stand in a record; what is not named here is not read',
      })
      .meta(
        computedMeta('additionalProperties', () => ({ anyOf: [jsonSchema(fieldSchema), jsonSchema(eventsSchema)] })),
      ),
  })
  .transform((given, context) => {
    // The kind of records, and so the names of their fields, follows from the folder.
    const kind = given.match.split('/', 1)[0] as LandingKind;
    if (given.fields === undefined) return { ...given, kind, fields: undefined };
    const read = fieldsSchema(kind).safeParse(given.fields, { error: describeIssue });
    if (read.success) return { ...given, kind, fields: read.data };
    for (const issue of read.error.issues as z.core.$ZodRawIssue[])
      context.issues.push({ ...issue, path: ['fields', ...(issue.path ?? [])] });
    return z.NEVER;
  });
export type FileMapping = z.output<typeof fileMappingSchema>;

/** Returns the first mapping for a file, by its path in the landing folder. */
export function mappingForFile(mappings: readonly FileMapping[], path: string): FileMapping | undefined {
  return mappings.find(({ match }) => posix.matchesGlob(path, match));
}

interface Mistake {
  message: string;
  path: string[];
}

function* mistakesIn(
  fields: FieldMap['fields'],
  names: readonly string[],
  kind: LandingKind,
  { required, lists, words }: MappedFields,
): Generator<Mistake> {
  for (const choice of required) {
    if (!choice.some((name) => names.includes(name)))
      yield { message: `lacks ${choice.join(' or ')}, without which every record is rejected`, path: [] };
  }
  if (kind === 'clicks' && !names.includes('offer_id') && names.includes('external_id') && !names.includes('source'))
    yield { message: 'lacks source, which external_id is an id of', path: [] };
  if (names.includes('kind') && names.includes('status'))
    yield { message: 'is for rows of state, "kind" for rows of events: a mapping has one of both', path: ['status'] };
  for (const [name, given] of Object.entries(fields))
    for (const field of withElse(given)) {
      const found = lists.includes(name) ? valueKeys(field) : listKeys(field);
      for (const { message, path } of found) yield { message, path: [name, ...path] };
      const ours = words[name];
      if (ours !== undefined) yield* foreignWords(name, field, ours);
    }
}

/** Keys that make one value of several. */
const valueOfSeveral = ['lowest', 'first', 'join'] as const;

function* valueKeys(field: FieldMapping): Generator<Mistake> {
  for (const key of valueOfSeveral)
    if (field[key] !== undefined) yield { message: 'is for one value, this field is a list', path: [key] };
}

/** Keys that only a field with a list may have, or one that makes one value of several. */
function* listKeys(field: FieldMapping): Generator<Mistake> {
  const isOne = valueOfSeveral.some((key) => field[key] !== undefined);
  for (const key of ['each', 'split', 'except', 'within', 'keys', 'all'] as const) {
    if (field[key] === undefined || (isOne && (key === 'each' || key === 'split'))) continue;
    const cure = 'see "first", "lowest" and "join", or name one place';
    yield { message: `gives a list, and the field takes one value: ${cure}`, path: [key] };
  }
}

function* foreignWords(name: string, field: FieldMapping, ours: readonly string[]): Generator<Mistake> {
  const message = `is none of ${ours.join(', ')}`;
  for (const [word, meaning] of Object.entries(field.words ?? {}))
    if (meaning !== null && !ours.includes(meaning)) yield { message, path: [name, 'words', word] };
  if (field.value !== undefined && !ours.some((word) => word === field.value)) yield { message, path: [name, 'value'] };
}

function unknownFields(issue: z.core.$ZodRawIssue, names: readonly string[]): string | undefined {
  if (issue.code !== 'unrecognized_keys') return undefined;
  return `${issue.keys.map((key) => `"${key}"`).join(', ')}: no field of ours; there are ${names.join(', ')}`;
}
