import { z } from 'zod';
import { isTimeZone, noTimeZone } from '../../time/zone.ts';
import { eitherForm, oneOrMore } from './either-form.ts';
import { wordOf } from './rows.ts';
import { placeSchema, rowsSchema, scalarSchema } from './rows-schema.ts';
import { hasOwnOffset } from './times.ts';

const placesSchema = oneOrMore(placeSchema);
const asItIs = 'as it is';

const numberSchema = z
  .strictObject({
    decimal: z
      .enum(['.', ','], { error: 'is neither "." nor ","' })
      .default('.')
      .describe('Decimal point of texts; a JSON number always has its own'),
    group: z
      .enum(['.', ',', ' ', "'", '’', '_'], { error: "is no separator of thousands: . , _ ' ’ or a blank" })
      .optional()
      .meta({ absent: 'none', description: 'Separator of thousands; a blank means blanks of every width' }),
    strip: oneOrMore(z.string().trim().min(1, 'is blank').max(20))
      .default([])
      .meta({ takes: 'text, or list', description: 'Texts before or behind the digits, such as `$` and `USD`' }),
    scale: z.int().min(-12).max(12).default(0).describe('Power of ten that the number is divided by: `2` for cents'),
    round: z
      .boolean()
      .default(false)
      .describe('Digits past the sixth place are rounded, half away from zero; otherwise they are refused'),
    sign: z.enum(['keep', 'drop'], { error: 'is not "drop"' }).default('keep').describe('`drop`: −5 is read as 5'),
  })
  .refine(({ decimal, group }) => decimal !== group, { error: 'is the decimal point too', path: ['group'] });

const words = z
  .record(z.string(), z.string({ error: 'is neither a text nor null' }).nullable())
  .superRefine((given, context) => {
    const meanings = new Map<string, string | null>();
    for (const [word, ours] of Object.entries(given)) {
      const same = meanings.get(wordOf(word));
      if (same !== undefined && same !== ours)
        context.addIssue({ code: 'custom', path: [word], message: 'has another meaning in other letters' });
      meanings.set(wordOf(word), ours);
    }
  });

/** What may be said of a list beside its place. */
const listSchema = z.strictObject({
  at: placesSchema.optional().meta({ absent: 'the member itself', takes: 'place, or list' }),
  all: z.literal(true).optional(),
  each: placeSchema.optional(),
  keys: z.literal(true).optional(),
  rows: rowsSchema.optional(),
  split: z.string().min(1).max(10).optional(),
  words: words.optional(),
});

/** A deny list: a place that is read as the list itself is, or one with rules of its own. */
const exceptSchema = eitherForm(isText, placeSchema, listSchema.superRefine(checkPlaces));

/** A further list that has to hold, with a deny list of its own. */
const withinSchema = eitherForm(
  isText,
  placeSchema,
  listSchema.extend({ except: exceptSchema.optional() }).superRefine(checkPlaces),
);

const ownRules = {
  at: placesSchema.optional().meta({
    absent: 'none',
    takes: 'place, or list',
    description: 'Places in order: the first that has a value counts. With `each`, places in each member',
  }),
  value: z
    .json()
    .optional()
    .meta({ absent: 'none', description: 'Value for all records; with a place, for those that have none there' }),
  none: oneOrMore(scalarSchema).optional().meta({
    absent: 'null and blank text',
    takes: 'value, or list',
    description: 'Values that stand for none, such as 0 where there is no limit; a number in any spelling',
  }),
  each: placeSchema.optional().meta({
    absent: 'none',
    description: 'Place of a list of objects, or of a map of them, of which `at` names the value',
  }),
  keys: z.literal(true).optional().meta({
    absent: 'their values',
    description: 'Names of the members of `each`, a map; those that are false, 0, null or blank do not count',
  }),
  rows: rowsSchema.optional().meta({
    absent: 'all count',
    takes: 'condition, or list',
    description: 'Conditions of the members of `each` that count',
  }),
  split: z.string().min(1).max(10).optional().meta({
    absent: asItIs,
    description: 'Text between the members of a list that is written as one text',
  }),
  except: exceptSchema.optional().meta({
    absent: 'none',
    takes: 'place, or object',
    description: 'List whose members are taken away, from all countries or devices where the allowed ones are empty',
  }),
  within: withinSchema.optional().meta({
    absent: 'none',
    takes: 'place, or object',
    description: 'Further list that the members have to be in, such as types of devices beside systems; empty is all',
  }),
  lowest: z
    .literal(true)
    .optional()
    .meta({ absent: 'one amount', description: 'The lowest of several amounts counts' }),
  first: z
    .literal(true)
    .optional()
    .meta({ absent: 'one value', description: 'The first member of `each` that has a value counts' }),
  all: z.literal(true).optional().meta({
    absent: 'the first place counts',
    description: 'The values of all places are one list',
  }),
  join: z.string().max(10).optional().meta({
    absent: 'the first place counts',
    description: 'Text between the values of all places, or of all members, which become one text',
  }),
  words: words.optional().meta({
    absent: asItIs,
    takes: 'word of ours by word of theirs',
    description: 'Meanings, compared trimmed and without case. `"*"` is for the rest, null passes the record over',
  }),
  time: oneOrMore(z.string().min(1).max(200).superRefine(checkTime)).optional().meta({
    absent: asItIs,
    takes: 'pattern, or list of such, of which the first that fits counts',
    description: '`epoch_s`, `epoch_ms`, `epoch_us`, `epoch_ns` or a pattern of strptime such as `%d.%m.%Y %H:%M`',
  }),
  zone: z
    .string()
    .refine(isTimeZone, { error: noTimeZone })
    .optional()
    .meta({ absent: 'that of the log or source', description: 'Zone of times without an offset' }),
  number: numberSchema.optional().meta({ absent: asItIs, description: 'How numbers are written' }),
  text: z.enum(['html', 'store'], { error: 'is neither "html" nor "store"' }).optional().meta({
    absent: asItIs,
    description:
      '`html`: its tags and entities are made plain text; `store`: an address becomes the system of the app store that it leads to, `android` or `ios`, any other is absent',
  }),
  lower: z.literal(true).optional().meta({ absent: asItIs, description: 'In lower case' }),
  upper: z.literal(true).optional().meta({ absent: asItIs, description: 'In upper case' }),
  trim: z.literal(true).optional().meta({ absent: asItIs, description: 'Without blanks around' }),
  line: z.literal(true).optional().meta({ absent: asItIs, description: 'On one line: breaks become blanks' }),
  when: rowsSchema.optional().meta({
    absent: 'always',
    takes: 'condition, or list',
    description: 'Conditions of records that have the field; in others it is absent',
  }),
};

const placeAlone = placeSchema.transform((place): OwnField => ({ at: [place] }));
const ownFieldSchema = z.strictObject(ownRules).superRefine(checkField);
type OwnField = z.output<typeof ownFieldSchema>;

const fullFieldSchema = z
  .strictObject({
    ...ownRules,
    else: oneOrMore(eitherForm(isText, placeAlone, ownFieldSchema))
      .optional()
      .meta({
        absent: 'none',
        takes: 'place or rules, or list of such',
        description: 'What is read, in this order, where this is absent',
      }),
  })
  .superRefine(checkField);
export type FieldMapping = z.output<typeof fullFieldSchema>;

/** Place of a field of ours in a record: a place, or a place with more said about it. */
export const fieldSchema = eitherForm(isText, placeAlone, fullFieldSchema);

/** Returns the field and those that are read in its place. */
export function withElse(field: FieldMapping): FieldMapping[] {
  return [field, ...(field.else ?? [])];
}

/** Returns the places of a field, and of those that are read in its stead. */
export function placesOfField(field: FieldMapping): string[] {
  return withElse(field).flatMap(({ at = [] }) => at);
}

/** Milestones of an offer; places are those in a member of the list. */
export const eventsSchema = z.strictObject({
  each: placeSchema.describe('Place of the list of milestones'),
  rows: rowsSchema.optional().meta({ absent: 'all count', description: 'Conditions of the milestones that count' }),
  when: rowsSchema.optional().meta({ absent: 'always', description: 'Conditions of offers that have milestones' }),
  lowest: z
    .literal(true)
    .optional()
    .meta({ absent: 'all count', description: 'Of several milestones with one id the lowest amount counts' }),
  event_id: fieldSchema,
  description: fieldSchema.optional(),
  payout: fieldSchema,
});
export type EventsMapping = z.output<typeof eventsSchema>;

function isText(given: unknown): boolean {
  return typeof given === 'string';
}

function checkField(field: OwnField, context: z.core.$RefinementCtx): void {
  const says = (message: string, key?: string) =>
    context.addIssue({ code: 'custom', message, path: key === undefined ? [] : [key] });
  if (field.value === undefined || field.each !== undefined) checkPlaces(field, context);
  if (field.lower && field.upper) says('contradicts "lower"', 'upper');
  if (field.number !== undefined && (field.time ?? field.zone) !== undefined)
    says('does not go with "time" or "zone": a field is the one or the other', 'number');
  const times = (field.time ?? []).filter((time) => isTime(time));
  if (field.zone !== undefined && times.length > 0 && times.every((time) => hasOwnOffset(time)))
    says(`contradicts "time": "${times.join('", "')}", which says itself how far it is from UTC`, 'zone');
  const [one, other] = ['lowest', 'first', 'join'].filter((key) => field[key as keyof OwnField] !== undefined);
  if (other !== undefined) says(`contradicts "${one}"`, other);
}

function checkPlaces(
  field: { at?: unknown; all?: unknown; each?: unknown; rows?: unknown; keys?: unknown },
  context: z.core.$RefinementCtx,
): void {
  if (field.at === undefined && field.each === undefined)
    context.addIssue({ code: 'custom', message: 'names no place: give "at", "each" or "value"' });
  for (const key of ['rows', 'keys'] as const)
    if (field[key] !== undefined && field.each === undefined)
      context.addIssue({ code: 'custom', message: 'is for the members of "each", which is absent', path: [key] });
  if (field.all !== undefined && field.each !== undefined)
    context.addIssue({ code: 'custom', message: 'is for places without "each"', path: ['all'] });
  if (field.keys !== undefined && field.at !== undefined)
    context.addIssue({ code: 'custom', message: 'gives the names of the members: leave "at" out', path: ['keys'] });
}

function checkTime(time: string, context: z.core.$RefinementCtx<string>): void {
  try {
    hasOwnOffset(time);
  } catch (error) {
    context.addIssue({ code: 'custom', message: `"${time}" ${(error as Error).message}` });
  }
}

function isTime(time: string): boolean {
  try {
    hasOwnOffset(time);
    return true;
  } catch {
    return false;
  }
}
