import { z } from 'zod';
import { oneOrMore } from './either-form.ts';

/** Keys joined by dots, such as `geo.country`; empty for the whole. */
export const placeSchema = z.string({ error: 'is not a place such as "geo.country"' }).max(500);

/** A value to compare with; null and an empty text stand for an absent one. */
export const scalarSchema = z.union([z.string(), z.number(), z.boolean(), z.null()], {
  error: 'is not a text, a number, a truth value or null',
});

const condition = z
  .strictObject({
    at: placeSchema.describe('Place of the value that is looked at'),
    is: oneOrMore(scalarSchema)
      .optional()
      .meta({ absent: 'any', takes: 'value, or list', description: 'Values of records that count' }),
    not: oneOrMore(scalarSchema)
      .optional()
      .meta({ absent: 'none', takes: 'value, or list', description: 'Values of records that do not count' }),
  })
  .refine(({ is, not }) => (is === undefined) !== (not === undefined), { error: 'says not one of "is" and "not"' });
export type Condition = z.output<typeof condition>;

/** Conditions of records that count: one, or a list that all have to hold. */
export const rowsSchema = oneOrMore(condition);
