import { z } from 'zod';

/*
 * What a network's API is like, as data: the same for networks that offerline knows and for those that an operator
 * declares in `sources.json`. Texts may hold `{name}`: a secret's name, `page` (or the row to begin at), `size`,
 * `from` and `to`.
 */

/**
 * Where something stands in an answer: keys joined by dots, such as `response.data.count`; empty for the answer itself.
 */
const place = z.string();

const condition = z.strictObject({
  at: place,
  /** Values that are meant, as text: `1` is the number as well as the text. */
  is: z.array(z.string()).min(1),
});

/** An answer that is no success. The first rule that fits decides. */
const errorRule = z.strictObject({
  status: z.array(z.int()).optional(),
  /** A text that stands at the place, in whatever case. */
  at: place.optional(),
  contains: z.string().optional(),
  /** `retry`: try again; `wait`: so many seconds first; `fail`: at once. */
  do: z.enum(['retry', 'wait', 'fail']),
  seconds: z.number().positive().max(900).default(10),
});

const pages = {
  size: z.int().min(1).max(100_000).default(500),
  /** How many records there are in all, where the answer says so. */
  total: place.optional(),
};
const paging = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('single'), total: place.optional() }),
  z.strictObject({
    kind: z.literal('page'),
    first: z.int().min(0).max(1).default(1),
    ...pages,
    /** How many pages there are; the number of the next one; whether there is one; records on a full page. */
    pages: place.optional(),
    next: place.optional(),
    more: place.optional(),
    size_given: place.optional(),
  }),
  /** By the number of the first row. */
  z.strictObject({ kind: z.literal('row'), first: z.int().min(0).max(1).default(1), ...pages }),
]);

const text = z.record(z.string(), z.union([z.string(), z.array(z.string())]));

export const streamSchema = z.strictObject({
  method: z.enum(['GET', 'POST']).default('GET'),
  /** Below the source's `base_url`. */
  path: z.string().default(''),
  query: text.default({}),
  headers: z.record(z.string(), z.string()).default({}),
  /** Sent as JSON. */
  body: z.json().optional(),
  format: z.enum(['json', 'csv']).default('json'),
  /** The list of records, or an object whose values they are. */
  records: place.default(''),
  paging: paging.prefault({ kind: 'single' }),
  /** All have to hold. */
  success: z.array(condition).default([]),
  errors: z.array(errorRule).default([]),
  /**
   * Where a token for a short time is had from by a form, and where it stands in the answer: `{token}` in the texts.
   */
  token: z.strictObject({ path: z.string(), form: z.record(z.string(), z.string()), at: place }).optional(),
  budget: z
    .strictObject({ requests: z.int().min(1), seconds: z.number().positive() })
    .default({ requests: 60, seconds: 60 }),
});
export type StreamDeclaration = z.input<typeof streamSchema>;
export type Stream = z.output<typeof streamSchema>;
export type ErrorRule = Stream['errors'][number];
