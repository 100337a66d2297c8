import type { IncomingMessage } from 'node:http';
import type { ConsoleSettings } from '../../kit/config/console-settings.ts';
import { isLoopbackAddress } from '../../kit/http/loopback.ts';

const loopbackNames: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);
/** Addresses of all interfaces, which nobody types. */
const wildcards: ReadonlySet<string> = new Set(['0.0.0.0', '::']);
const hasPort = /:\d+$/;

/**
 * Returns a check that a request names this console in its Host. Otherwise a foreign page whose name resolves to this
 * machine (DNS rebinding) would be trusted by the browser. The port is that of the connection, because a listener may
 * choose a free one.
 */
export function knownHosts({ host, public_url, hosts }: ConsoleSettings): (request: IncomingMessage) => boolean {
  // Brackets separate an IPv6 address from its port; `hosts` has them too.
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
