import type { IncomingHttpHeaders } from 'node:http';
import { isInNetwork } from './client-address.ts';

export const isLoopbackAddress = isInNetwork(['127.0.0.0/8', '::1']);

/** Returns whether a listener there can be reached from this machine only. */
export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || isLoopbackAddress(host);
}

/** Headers in which proxies name their clients. */
const proxyHeaders = ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip'];

/**
 * Returns whether a request was made on this machine, and not by a proxy on it that names itself: a proxy may ask
 * for anybody.
 */
export function isFromThisMachine(headers: IncomingHttpHeaders, remoteAddress: string | undefined): boolean {
  return isLoopbackAddress(remoteAddress) && proxyHeaders.every((name) => headers[name] === undefined);
}
