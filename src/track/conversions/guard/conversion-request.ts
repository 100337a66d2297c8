import type { IncomingHttpHeaders } from 'node:http';

/** What came to `/postback/<source>`. */
export interface ConversionRequest {
  /** As the path names it, decoded. */
  source: string;
  method: 'GET' | 'POST';
  /** As it came, without its question mark. */
  query: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** Whose request it is, in full. */
  address: string;
}

/** What a signature over the whole request covers: the body, or where it has none, path and query. */
export function signedContent({ source, method, query, body }: ConversionRequest): string | Buffer {
  if (method === 'POST') return body;
  return `/postback/${encodeURIComponent(source)}${query === '' ? '' : `?${query}`}`;
}

/** A header as one text; where it is given more than once Node takes the first or joins them, by its name. */
export function singleHeader(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
}
