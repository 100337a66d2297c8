import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { request } from 'undici';

/** Request that came to the page that an offer leads to. */
export interface Arrival {
  /** Host of the real page, to which nothing was sent. */
  host: string;
  /** Path and query. */
  target: string;
}

/**
 * Follows a redirect to a receiver on loopback that takes the place of the advertiser's host: the request there is what
 * the advertiser would get.
 */
export async function followedToReceiver(location: string, headers: Record<string, string>): Promise<Arrival> {
  const { host, pathname, search } = new URL(location);
  let target = '';
  const server = createServer((asked, answer) => {
    target = asked.url ?? '';
    answer.writeHead(204).end();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  try {
    const { port } = server.address() as AddressInfo;
    const answer = await request(`http://127.0.0.1:${port}${pathname}${search}`, { headers });
    await answer.body.dump();
    return { host, target };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
