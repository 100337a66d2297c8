import type { AddressInfo, Server } from 'node:net';

/** An address as a client on this machine writes it: the wildcard addresses can be listened on, not visited. */
export function addressText(
  { address, port }: Pick<AddressInfo, 'address' | 'port'>,
  scheme: 'http' | 'https' = 'http',
): string {
  if (address === '0.0.0.0' || address === '::') return `${scheme}://localhost:${port}`;
  return address.includes(':') ? `${scheme}://[${address}]:${port}` : `${scheme}://${address}:${port}`;
}

/** Starts to listen; returns the address, such as `http://127.0.0.1:8082`. Port 0 takes a free one. */
export async function listenAt(server: Server, at: { host: string; port: number }): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen(at, resolve);
  await promise;
  server.off('error', reject);
  return addressText(server.address() as AddressInfo);
}

/** The port of such an address; a URL has none where it is its scheme's own. */
export function portOf(address: string): number {
  const { port, protocol } = new URL(address);
  if (port !== '') return Number(port);
  return protocol === 'https:' ? 443 : 80;
}
