import { parse } from 'node:querystring';
import { percentDecoded } from '../text/percent-encoded.ts';

/** A name that is given more than once: which value was meant cannot be known. */
export const repeated = Symbol('repeated');
/** A value whose percent-encoding is broken or is not UTF-8. */
export const undecodable = Symbol('undecodable');

export type QueryValue = string | typeof repeated | typeof undecodable;

/** The query string by name, as text: nothing is coerced. An empty value counts as absent and is not here. */
export type Query = Readonly<Record<string, QueryValue | undefined>>;

/** Half a surrogate, which no UTF-8 decodes to. */
const undecodableText = '\uDFFF';

/** Reads a query string as a form writes it: `&` between pairs, `+` for a space, percent-encoded UTF-8. */
export function readQueryString(sent: string): Query {
  // Node's parser takes broken percent-encoding as it is, and all values of a name: here both are mistakes.
  const parsed = parse(sent, '&', '=', { maxKeys: 0, decodeURIComponent: decode });
  const query = parsed as Record<string, QueryValue>;
  for (const [name, value] of Object.entries(parsed)) {
    if (value === '' || name === '' || name === undecodableText) delete query[name];
    else if (value === undecodableText) query[name] = undecodable;
    else if (typeof value !== 'string') query[name] = repeated;
  }
  return query;
}

function decode(encoded: string): string {
  return percentDecoded(encoded) ?? undecodableText;
}
