import { z } from 'zod';
import { hasBraces } from '../../kit/text/macros.ts';
import { eitherForm } from '../../kit/intake/mapping/either-form.ts';
import { formatSchema, type FileFormat } from '../../kit/intake/mapping/format-schema.ts';

/*
 * Declaration of a network's API as data, the same for networks that offerline knows and for those that an operator
 * declares in `sources.json`. Texts may hold `{name}`: a secret's name, `page` (or the row to begin at), `size`,
 * `cursor`, `from` and `to`.
 */

/**
 * Keys joined by dots, such as `response.data.count`, that lead to a value in an answer; empty is the answer itself.
 */
const place = z.string().meta({ takes: 'place' });

/** A place in the body of an answer, or one of its headers. */
export type AnswerPlace = string | { header: string };

const answerPlace = eitherForm(
  (given) => typeof given === 'string',
  place.transform((at): AnswerPlace => at),
  z.strictObject({
    header: z
      .string()
      .regex(/^[\w-]+$/, 'is no name of a header')
      .describe('Name of the header, in any case'),
  }),
);

function optionalPlace(description: string) {
  return answerPlace
    .optional()
    .meta({ absent: 'the answer has none', takes: 'place, or `{"header": …}`', description });
}

const condition = z.strictObject({
  at: place.describe('Place of the value'),
  is: z.array(z.string()).min(1).describe('Values that are meant, as text: `1` is the number as well as the text'),
});

const errorRule = z.strictObject({
  status: z.array(z.int()).optional().meta({ absent: 'any', description: 'Statuses that the rule is about' }),
  at: place.optional().meta({ absent: 'the answer itself', description: 'Place of `contains`' }),
  contains: z.string().optional().meta({ absent: 'any', description: 'Text within the value, without regard to case' }),
  do: z
    .enum(['retry', 'wait', 'fail', 'end'])
    .describe('What follows: another try, another try after `seconds`, a failed pull; `end`: the page has no records'),
  seconds: z.number().positive().max(900).default(10).meta({ unit: 's', description: 'Time that `wait` waits' }),
});

const first = z.int().min(0).max(1).default(1).describe('Number of the first page, or of the first row');
const pages = {
  size: z
    .int()
    .min(1)
    .max(100_000)
    .default(500)
    .describe('Records that a page is asked to have; the network may send fewer'),
  total: optionalPlace('Number of all records'),
};
const next = optionalPlace(
  'Number of the next page; with `cursor` the text that leads to it, `{cursor}` in the texts, absent on the last page',
);
const more = optionalPlace('True where there is another page');
const paging = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('single').describe('Kind of paging'), total: pages.total }),
  z.strictObject({
    kind: z.literal('page'),
    first,
    ...pages,
    pages: optionalPlace('Number of pages'),
    next,
    more,
  }),
  z.strictObject({ kind: z.literal('row'), first, ...pages }),
  z.strictObject({
    kind: z.literal('cursor'),
    ...pages,
    next,
    next_url: optionalPlace(
      'Address of the next page, on the host of `base_url`; absent on the last page. Of the header `Link` that with `rel="next"`',
    ),
    more,
    last: optionalPlace('True on the last page, whatever leads on'),
  }),
]);

const text = z
  .record(z.string(), z.union([z.string(), z.array(z.string())]))
  .meta({ takes: 'text, or list of text, by name' });

/** Address of a network. It gets the secrets, so nothing fills it. */
export const networkAddress = z
  .url({ protocol: /^https?$/ })
  .refine((url) => !hasUserInfo(url), { error: 'has a user name or password: secrets belong into "secrets"' })
  .refine((url) => !hasBraces(url), {
    error: 'has a macro, and nothing is filled there: "path", "query" and "headers" of a list may name secrets',
  });

/** False for what is no address: all checks are made, also after one that failed. */
function hasUserInfo(address: string): boolean {
  const url = URL.parse(address);
  return url !== null && url.username + url.password !== '';
}

/** What a request carries beside its address. */
const requestContent = {
  headers: z.record(z.string(), z.string()).default({}).meta({ takes: 'text by name', description: 'Headers' }),
  basic: z.array(z.string()).min(1).max(2, 'has more than two names').optional().meta({
    absent: 'none',
    takes: 'names of one secret or two',
    description: 'Secrets that are user and password of HTTP Basic; with one the password is empty',
  }),
  form: text.optional().meta({
    absent: 'none',
    takes: 'text, or list of text, by name',
    description: 'Body, sent as a form (`application/x-www-form-urlencoded`)',
  }),
  body: z.json().optional().meta({
    takes: 'JSON',
    absent: 'none',
    description: 'Body, sent as JSON; a member that is `{page}` or `{size}` alone becomes a number',
  }),
};

/** Formats of answers. The dialect of CSV, and an encoding that the answer does not name, are those of a mapping. */
const answerFormats = z.enum(['json', 'csv', 'xml'], { error: 'is none of json, csv, xml' });
const answerFormatSchema = eitherForm(
  (given) => typeof given === 'string',
  answerFormats.transform((type): AnswerFileFormat => ({ type })),
  formatSchema
    .pick({ encoding: true, delimiter: true, header: true, skip: true })
    .extend({ type: answerFormats.default('json').describe('Format of the answer') }),
);
/** Format of an answer, and what its bytes and headers do not show of it. */
export interface AnswerFileFormat extends Pick<FileFormat, 'encoding' | 'delimiter' | 'header' | 'skip'> {
  type: z.output<typeof answerFormats>;
}

export const streamSchema = z.strictObject({
  method: z.enum(['GET', 'POST']).default('GET').describe('Method of the request'),
  path: z.string().default('').describe('Path below `base_url`'),
  query: text.default({}).describe('Parameters of the query'),
  ...requestContent,
  format: answerFormatSchema.default({ type: 'json' }).meta({
    absent: '`"json"`',
    takes: '`"json"`, `"csv"`, `"xml"`, or an object',
    description: 'Format of the answer; `csv` is cut by what its header shows, also by tabs',
  }),
  records: place
    .default('')
    .describe(
      'Place of the list of records, or of an object whose values they are. `*` is each member of a list: `campaigns.*.offers`',
    ),
  paging: paging
    .prefault({ kind: 'single' })
    .describe(
      'One page (`single`), pages by number (`page`), by the number of their first row (`row`), or each said by the one before (`cursor`)',
    ),
  success: z.array(condition).default([]).describe('Conditions of a good answer; all have to hold'),
  errors: z.array(errorRule).default([]).describe('Rules about other answers; the first that fits decides'),
  token: z
    .strictObject({
      base_url: networkAddress
        .optional()
        .meta({ absent: 'that of the source', description: 'Address that gives it, where it is another one' }),
      path: z.string().describe('Path below the address'),
      ...requestContent,
      at: place.describe('Place of the token in the answer'),
    })
    .optional()
    .meta({ absent: 'none', description: 'Token for a short time, `{token}` in the texts' }),
  budget: z
    .strictObject({
      requests: z.int().min(1).describe('Requests at most'),
      seconds: z.number().positive().meta({ unit: 's', description: 'Time that they may be sent in' }),
    })
    .default({ requests: 60, seconds: 60 })
    .describe('Requests that the network may be sent'),
});
export type StreamDeclaration = z.input<typeof streamSchema>;
export type Stream = z.output<typeof streamSchema>;
export type ErrorRule = Stream['errors'][number];

const placeKeys = new Set(['total', 'pages', 'next', 'next_url', 'more', 'last']);

/** The request for a page, or for a token. */
export type RequestDeclaration = Pick<Stream, 'method' | 'path' | 'query' | 'headers' | 'basic' | 'form' | 'body'>;

/** Returns the mistake in the paging of a stream, and the key that it is about. */
export function pagingMistake({
  paging: given,
  format,
  ...texts
}: Stream): { key: string; message: string } | undefined {
  for (const [key, at] of Object.entries(given))
    if (format.type !== 'json' && placeKeys.has(key) && typeof at === 'string')
      return { key, message: 'is for answers of JSON: of CSV and XML only {"header": "name"} is read' };
  if (given.kind !== 'cursor') return undefined;
  if ((given.next === undefined) === (given.next_url === undefined))
    return { key: 'next', message: 'and "next_url": say one of them, where the answer leads to the next page' };
  if (given.next !== undefined && !hasPlaceholder(texts, 'cursor'))
    return {
      key: 'next',
      message: 'is sent nowhere: write {cursor} into "query", "path", "headers", "form" or "body"',
    };
  return undefined;
}

/** Returns the mistake in what a request carries, and the key that it is about. */
export function requestMistake(
  { method, headers, basic = [], form, body }: Omit<RequestDeclaration, 'path' | 'query'>,
  secrets: readonly string[],
): { key: string; message: string } | undefined {
  if (form !== undefined && body !== undefined) return { key: 'form', message: 'and "body": say one of them' };
  if (form !== undefined && method === 'GET') return { key: 'form', message: 'goes with "method": "POST"' };
  const unknown = basic.find((name) => !secrets.includes(name));
  if (unknown !== undefined)
    return {
      key: 'basic',
      message: `names "${unknown}", which is none of "secrets": add it there, or name one of them`,
    };
  const isHeader = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
  if (basic.length > 0 && isHeader) return { key: 'basic', message: 'and the header Authorization: say one of them' };
  return undefined;
}

/** True where a request has the placeholder. */
export function hasPlaceholder(
  { path, query, headers, form, body }: Pick<Stream, 'path' | 'query' | 'headers' | 'form' | 'body'>,
  name: string,
): boolean {
  const written = JSON.stringify([path, query, headers, form, body]);
  return new RegExp(String.raw`(?<!\\)\{${name}\}`).test(written);
}
