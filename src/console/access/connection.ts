import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { Settings } from '../../kit/config/settings.ts';
import { isInNetwork } from '../../kit/http/client-address.ts';
import { isLoopbackAddress } from '../../kit/http/loopback.ts';

/** What a connection is worth, by its ends and not by what was said over it. */
export interface Connections {
  isFromProxy: (request: IncomingMessage) => boolean;
  /** Whether somebody on the way could read along: it came neither over TLS, nor by a trusted proxy, nor from here. */
  isExposed: (request: IncomingMessage) => boolean;
  /** Whether the browser speaks TLS, with us or with a proxy that vouches for it. */
  isSecure: (request: IncomingMessage) => boolean;
}

export function connections(settings: Pick<Settings, 'console' | 'trusted_proxies'>): Connections {
  const isTrusted = isInNetwork(settings.trusted_proxies);
  const isEncrypted = ({ socket }: IncomingMessage) => (socket as Partial<TLSSocket>).encrypted === true;
  const isFromProxy = ({ socket }: IncomingMessage) => isTrusted(socket.remoteAddress);
  const { public_url } = settings.console;
  const publicUrl = public_url === undefined ? undefined : new URL(public_url);
  return {
    isFromProxy,
    isExposed: (request) =>
      !isEncrypted(request) && !isFromProxy(request) && !isLoopbackAddress(request.socket.remoteAddress),
    isSecure: (request) =>
      isEncrypted(request) ||
      (publicUrl?.protocol === 'https:' && request.headers.host?.toLowerCase() === publicUrl.host) ||
      (isFromProxy(request) && request.headers['x-forwarded-proto'] === 'https'),
  };
}
