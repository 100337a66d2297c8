import type { IncomingHttpHeaders } from 'node:http';

/** Headers by which browsers say that nobody has asked for the page yet; the older ones say only `prefetch`. */
const headers = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'] as const;

/** Whether a request only fetches ahead. Refused with an error, a browser asks again when the user really comes. */
export function isPrefetch(request: IncomingHttpHeaders): boolean {
  return headers.some((name) => {
    const said = request[name];
    return typeof said === 'string' && /prefetch|prerender|preview/i.test(said);
  });
}
