import { isWithin } from './client-address.ts';

export const isLoopbackAddress = isWithin(['127.0.0.0/8', '::1']);

/** Whether a listener there can be reached from this machine only. */
export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || isLoopbackAddress(host);
}
