import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

/**
 * Returns whether a page of this server made the request. Over TLS and on loopback browsers say so in a header that no
 * page can set. Without that header the origin decides, which programs may set. A form of an older browser has none
 * under a referrer policy of `no-referrer`, and is refused.
 */
export function isOwnPage({ headers }: Pick<IncomingMessage, 'headers'>, isSecure: boolean): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  return headers.origin !== undefined && isOrigin(headers, (page) => page.protocol === 'https:' || !isSecure);
}

/** Returns whether a program made the request, which names no origin, or a page of this server. */
export function hasOwnOrigin({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers.origin === undefined || isOrigin(headers);
}

function isOrigin({ origin = '', host }: IncomingHttpHeaders, fits: (page: URL) => boolean = () => true): boolean {
  if (!URL.canParse(origin)) return false;
  const page = new URL(origin);
  return page.host === host?.toLowerCase() && fits(page);
}
