import { createServer } from 'node:http';
import { listenAt } from '../../kit/http/listening-address.ts';
import { metricsContentType } from '../../kit/metrics/metrics.ts';

/** A scrape that fails would look like a tracker that is gone. */
const standbyMetrics = `# HELP offerline_tracker_standby This tracker waits for another one's end, or for its disk.
# TYPE offerline_tracker_standby gauge
offerline_tracker_standby 1
`;

/**
 * Answers for a tracker that cannot begin, as while another machine's works: a proxy sees that this one lives, and asks
 * the other.
 */
export class StandbyServer {
  /** Why it refuses. */
  reason = 'another tracker works on this landing folder';
  readonly #server = createServer((request, response) => {
    const path = (request.url ?? '').split('?', 1)[0];
    if (path === '/metrics') {
      response.writeHead(200, { 'content-type': metricsContentType, 'cache-control': 'no-store', connection: 'close' });
      response.end(standbyMetrics);
      return;
    }
    const isAlive = path === '/healthz';
    const document = isAlive ? { status: 'standby' } : { status: 'unavailable', error: 'standby', reason: this.reason };
    response.writeHead(isAlive ? 200 : 503, {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      // The next request is for the tracker, if it has begun meanwhile.
      connection: 'close',
      ...(!isAlive && { 'retry-after': '1' }),
    });
    response.end(`${JSON.stringify(document)}\n`);
  });

  /** Starts to listen; returns the address. */
  listen(at: { host: string; port: number }): Promise<string> {
    return listenAt(this.#server, at);
  }

  /** Frees the port. */
  async close(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    this.#server.closeAllConnections();
    await promise;
  }
}
