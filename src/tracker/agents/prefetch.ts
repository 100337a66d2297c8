import type { IncomingHttpHeaders } from 'node:http';

/** Headers of speculative loads; the older ones have only the value `prefetch`. */
const headers = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'] as const;

/** Returns true for a speculative load. Refused with an error, a browser loads again when the user really comes. */
export function isPrefetch(request: IncomingHttpHeaders): boolean {
  return headers.some((name) => {
    const said = request[name];
    return typeof said === 'string' && /prefetch|prerender|preview/i.test(said);
  });
}
