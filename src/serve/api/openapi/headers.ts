import type { ApiErrorKind } from '../../../kit/http/errors.ts';
import type { Operation } from '../../endpoints/operation.ts';
import { cacheControl } from '../../http/caching.ts';
import type { Variant } from '../../http/variant.ts';
import { pictureSecurityPolicy } from '../pictures.ts';
import { isKept } from './route-schema.ts';

/** Header of an answer; one that is not required comes with some of the answers of its status. */
interface Header {
  description: string;
  required: boolean;
  schema: object;
}
type Headers = Record<string, Header>;

const header = (description: string, schema: object = {}): Header => ({
  description,
  required: true,
  schema: { type: 'string', ...schema },
});
const count = (description: string, minimum = 0): Header => ({
  description,
  required: true,
  schema: { type: 'integer', minimum },
});

const ofEveryAnswer: Headers = {
  Vary: header('Which headers of the request the answer depends on'),
  'Referrer-Policy': header('That the address, which holds credentials, is not handed on'),
};
const ofSnapshot: Headers = {
  'X-Snapshot-Id': header('The published snapshot that the answer was made from'),
  'X-Data-As-Of': header('The moment that its figures are of', { format: 'date-time' }),
};
const ofPage: Headers = { ETag: header('For If-None-Match', { pattern: '^"[^"]+"$' }) };
const ofCompressed: Headers = {
  'Content-Encoding': header('How the body is compressed, as Accept-Encoding allows', { enum: ['br', 'gzip'] }),
};
const ofLimits: Headers = {
  'X-RateLimit-Limit': count('Most requests within the window'),
  'X-RateLimit-Remaining': count('Requests left in the current window'),
  'X-RateLimit-Reset': count('Epoch seconds when the oldest counted request leaves the window'),
};
const ofLimited: Headers = { 'Retry-After': count('Seconds until the next request has room', 1) };
const ofOverload: Headers = { 'Retry-After': count('Seconds after which to try again', 1) };
const ofWrongMethod: Headers = { Allow: header('The methods that there are') };

const keeping = (value: string): Headers => ({
  'Cache-Control': header('Who may keep the answer, and for how many seconds', { const: value }),
});

/** Returns headers of every answer of a variant. */
function headersOf({ headers }: Variant, kept: string): Headers {
  const version = headers['x-api-version'];
  return {
    ...ofEveryAnswer,
    ...keeping(kept),
    ...(version !== undefined && { 'X-Api-Version': header('Version of the interface', { const: version }) }),
  };
}

function optional(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).map(([name, each]) => [name, { ...each, required: false }]));
}

/** Reasons that only a site that is identified gets. */
const forSites = new Set<ApiErrorKind>([
  'site_pending',
  'rate_limited',
  'wrong_type',
  'wrong_date',
  'wrong_parameter',
  'nothing_found',
  'unavailable',
]);

/** Headers of an operation's answers of status 200 and 304. */
export function answerHeaders(operation: Operation, { mayBeCompressed }: { mayBeCompressed: boolean }): Headers {
  return {
    ...headersOf(operation.variant, operation.cacheControl),
    ...ofSnapshot,
    ...(isKept(operation) && ofPage),
    ...(operation.variant.showsLimits && ofLimits),
    ...(mayBeCompressed && optional(ofCompressed)),
  };
}

/** Headers of an error that may have any of these reasons. */
export function errorHeaders(variant: Variant, kinds: readonly ApiErrorKind[]): Headers {
  return {
    ...headersOf(variant, cacheControl.noStore),
    // Nothing may be published yet.
    ...optional(ofSnapshot),
    ...(variant.showsLimits && kinds.some((kind) => forSites.has(kind)) && optional(ofLimits)),
    // The limit of failed identifications is not a site's.
    ...(kinds.includes('rate_limited') && { ...optional(ofLimits), ...ofLimited }),
    // Where nothing is published yet, nobody knows when to come back.
    ...(kinds.includes('unavailable') && optional(ofOverload)),
    ...(kinds.includes('wrong_method') && ofWrongMethod),
  };
}

export const pictureHeaders: Headers = {
  ...ofEveryAnswer,
  ...keeping(cacheControl.versioned),
  ...ofPage,
  'X-Content-Type-Options': header('That the bytes are of this type and no other', { const: 'nosniff' }),
  'Content-Security-Policy': header('That a page of the picture runs nothing', { const: pictureSecurityPolicy }),
};

export const movedPictureHeaders: Headers = {
  ...ofEveryAnswer,
  ...keeping(cacheControl.page),
  ...ofPage,
  ...ofSnapshot,
  Location: header('The advertiser’s address', { format: 'uri' }),
  'X-Api-Version': { ...header('Version of the interface, under a base address that has one'), required: false },
};

export const ifNoneMatch = {
  in: 'header',
  name: 'If-None-Match',
  description: 'The ETag of the answer that is there already: 304 without a body while it holds',
  required: false,
  schema: { type: 'string' },
};

/** All headers of answers with credentials in a table of Markdown, for the page that people read. */
export function headerTable(): string {
  const cacheControls = { 'Cache-Control': header('Who may keep the answer, and for how many seconds') };
  const all: Headers = {
    ...ofSnapshot,
    ...ofPage,
    ...cacheControls,
    ...ofLimits,
    'Retry-After': header('Of a 429 and a 503: seconds after which to try again'),
    'X-Api-Version': header('Version of the interface, of Variant C'),
    ...ofCompressed,
    ...ofEveryAnswer,
    Allow: header('Of a 405: the methods that there are'),
  };
  const rows = Object.entries(all).map(([name, { description }]) => `| \`${name}\` | ${description} |`);
  return ['| header of answers | says |', '|---|---|', ...rows].join('\n');
}
