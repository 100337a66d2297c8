import { createServer } from 'node:http';
import { request } from 'undici';
import { listenAt } from '../../kit/http/listening-address.ts';

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
  const receiver = await listenAt(server, { host: '127.0.0.1', port: 0 });
  try {
    const answer = await request(`${receiver}${pathname}${search}`, { headers });
    await answer.body.dump();
    return { host, target };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
