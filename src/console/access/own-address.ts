import type { IncomingMessage } from 'node:http';
import type { ConsoleSettings } from '../../kit/config/console-settings.ts';
import { isLoopbackAddress } from '../../kit/http/loopback.ts';

const loopbackNames: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);
/** Addresses of all interfaces: nobody types them. */
const wildcards: ReadonlySet<string> = new Set(['0.0.0.0', '::']);
const hasPort = /:\d+$/;

/**
 * Tells whether a request names this console in its Host. A page elsewhere whose name was made to point here would have
 * the browser's trust otherwise. The port is the one that the connection came in by: a listener may choose a free one.
 */
export function knownHosts({ host, public_url, hosts }: ConsoleSettings): (request: IncomingMessage) => boolean {
  // In brackets an address of IPv6 has its port apart; in `hosts` it is written so.
  const bracketed = (host.includes(':') ? `[${host}]` : host).toLowerCase();
  const names = new Set([...hosts, ...(wildcards.has(host) ? [] : [bracketed])]);
  const whole = new Set(hosts.filter((name) => hasPort.test(name)));
  for (const name of whole) names.delete(name);
  if (public_url !== undefined) whole.add(new URL(public_url).host);
  return ({ headers, socket }) => {
    const asked = headers.host?.toLowerCase();
    if (asked === undefined) return false;
    if (whole.has(asked)) return true;
    const end = `:${socket.localPort}`;
    const name = asked.endsWith(end) ? asked.slice(0, -end.length) : asked;
    return names.has(name) || (loopbackNames.has(name) && isLoopbackAddress(socket.localAddress));
  };
}

/**
 * Whether a request that changes something was made by a page of this console. Browsers say so in a header that no page
 * can set, over TLS and on loopback. Without it the origin decides, which programs may name. A form of an older browser
 * names none under our referrer policy, and is refused.
 */
export function isOwnPage({ headers }: IncomingMessage, isSecure: boolean): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const { origin, host } = headers;
  if (origin === undefined || !URL.canParse(origin)) return false;
  const page = new URL(origin);
  return page.host === host?.toLowerCase() && (page.protocol === 'https:' || !isSecure);
}
