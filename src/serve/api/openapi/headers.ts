import type { Variant } from '../../http/variant.ts';

/** Of an answer; one that is not required comes with some of the answers of its status. */
export interface Header {
  description: string;
  required: boolean;
  schema: object;
}
export type Headers = Record<string, Header>;

export const header = (description: string, schema: object = {}): Header => ({
  description,
  required: true,
  schema: { type: 'string', ...schema },
});
export const count = (description: string, minimum = 0): Header => ({
  description,
  required: true,
  schema: { type: 'integer', minimum },
});

export const ofEveryAnswer: Headers = {
  Vary: header('Which headers of the request the answer depends on'),
  'Referrer-Policy': header('That the address, which holds credentials, is not handed on'),
};
export const ofSnapshot: Headers = {
  'X-Snapshot-Id': header('The published snapshot that the answer was made from'),
  'X-Data-As-Of': header('The moment that its figures are of', { format: 'date-time' }),
};
export const ofPage: Headers = { ETag: header('For If-None-Match', { pattern: '^"[^"]+"$' }) };
export const ofCompressed: Headers = {
  'Content-Encoding': header('How the body is compressed, as Accept-Encoding allows', { enum: ['br', 'gzip'] }),
};
export const ofLimits: Headers = {
  'X-RateLimit-Limit': count('Most requests within the window'),
  'X-RateLimit-Remaining': count('Requests left in the current window'),
  'X-RateLimit-Reset': count('Epoch seconds when the oldest counted request leaves the window'),
};
export const ofLimited: Headers = { 'Retry-After': count('Seconds until the next request has room', 1) };
export const ofOverload: Headers = { 'Retry-After': count('Seconds after which to try again', 1) };
export const ofWrongMethod: Headers = { Allow: header('The methods that there are') };

/** Of every answer of a variant. */
export function headersOf({ headers }: Variant, keeping: string): Headers {
  const version = headers['x-api-version'];
  return {
    ...ofEveryAnswer,
    'Cache-Control': header('Who may keep the answer, and for how many seconds', { const: keeping }),
    ...(version !== undefined && { 'X-Api-Version': header('Version of the interface', { const: version }) }),
  };
}

export function optional(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).map(([name, each]) => [name, { ...each, required: false }]));
}

export const ifNoneMatch = {
  in: 'header',
  name: 'If-None-Match',
  description: 'The ETag of the answer that is there already: 304 without a body while it holds',
  required: false,
  schema: { type: 'string' },
};
