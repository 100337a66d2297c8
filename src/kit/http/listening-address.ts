import type { AddressInfo } from 'node:net';

/** An address as a client on this machine writes it: the wildcard addresses can be listened on, not visited. */
export function addressText(
  { address, port }: Pick<AddressInfo, 'address' | 'port'>,
  scheme: 'http' | 'https' = 'http',
): string {
  if (address === '0.0.0.0' || address === '::') return `${scheme}://localhost:${port}`;
  return address.includes(':') ? `${scheme}://[${address}]:${port}` : `${scheme}://${address}:${port}`;
}

/** The port of such an address; a URL has none where it is its scheme's own. */
export function portOf(address: string): number {
  const { port, protocol } = new URL(address);
  if (port !== '') return Number(port);
  return protocol === 'https:' ? 443 : 80;
}
