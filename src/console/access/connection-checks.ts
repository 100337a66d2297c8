import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { Settings } from '../../kit/config/settings.ts';
import { isInNetwork } from '../../kit/http/client-address.ts';
import { isLoopbackAddress } from '../../kit/http/loopback.ts';

/** Checks of a connection, by its addresses and TLS, not by what was sent over it. */
export interface ConnectionChecks {
  isFromProxy: (request: IncomingMessage) => boolean;
  /** The request came neither over TLS, nor from a trusted proxy, nor from this machine: somebody could read it. */
  isExposed: (request: IncomingMessage) => boolean;
  /** The browser uses TLS, with the console or with a trusted proxy. */
  isSecure: (request: IncomingMessage) => boolean;
}

export function connectionChecks(settings: Pick<Settings, 'console' | 'trusted_proxies'>): ConnectionChecks {
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
