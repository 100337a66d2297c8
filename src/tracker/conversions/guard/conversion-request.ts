import type { IncomingHttpHeaders } from 'node:http';

/** A request to `/postback/<source>`. */
export interface ConversionRequest {
  /** The source as the path names it, decoded. */
  source: string;
  method: 'GET' | 'POST';
  /** The query as it came, without its question mark. */
  query: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** The body where it is `multipart/form-data`, as PHP sends an array. */
  form?: FormData | 'unreadable' | undefined;
  /** The client's address, in full. */
  address: string;
}

/** Reads a body in several parts, which takes its time. */
export async function withForm(request: ConversionRequest): Promise<ConversionRequest> {
  const type = singleHeader(request.headers, 'content-type') ?? '';
  if (request.method !== 'POST' || !/^\s*multipart\/form-data\s*;/i.test(type)) return request;
  const form = new Response(new Uint8Array(request.body), { headers: { 'content-type': type } }).formData();
  return { ...request, form: await form.catch(() => 'unreadable' as const) };
}

/** The part of a request that a signature over all of it covers: the body, or where it has none, path and query. */
export function signedContent({ source, method, query, body }: ConversionRequest): string | Buffer {
  if (method === 'POST') return body;
  return `/postback/${encodeURIComponent(source)}${query === '' ? '' : `?${query}`}`;
}

/** A header as one text; where it is given more than once Node takes the first or joins them, by its name. */
export function singleHeader(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
}
