import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Metrics } from '../../kit/metrics/metrics.ts';

/** Upper bounds of the latency histogram: from a page out of memory to one that somebody waits for. Seconds. */
const latencyBounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/**
 * Writes one log line per request, and counts them for `/metrics`, by route: there are few routes, and no label comes
 * from a client.
 */
export class AccessLog {
  readonly #log: Logger;
  readonly #requests;
  readonly #limited;
  readonly #durations;

  constructor(log: Logger, metrics: Metrics) {
    this.#log = log;
    this.#requests = metrics.counter('offerline_http_requests_total', 'Answered requests.', [
      'path',
      'method',
      'status',
    ]);
    this.#limited = metrics.counter('offerline_rate_limited_requests_total', 'Requests refused by a rate limit.', [
      'path',
    ]);
    this.#durations = metrics.histogram(
      'offerline_http_request_duration_seconds',
      'Time from a request to its answer.',
      latencyBounds,
      ['path'],
    );
  }

  /** A request that was answered, or whose client has gone. */
  add(request: FastifyRequest, { statusCode: status, elapsedTime: milliseconds }: FastifyReply): void {
    const { id, method } = request;
    const ms = Math.round(milliseconds * 100) / 100;
    this.#log.info({ request_id: id, method, path: pathOf(request), status, ms }, 'answered');
    // The route's pattern: addresses that clients make up must not become labels.
    const path = request.is404 ? 'none' : (request.routeOptions.url ?? 'none');
    this.#requests.inc({ path, method, status });
    if (status === 429) this.#limited.inc({ path });
    this.#durations.observe({ path }, milliseconds / 1000);
  }
}

/**
 * The path without the query. Cut at the first character that no path of ours has: a mistyped address
 * (`/offers&site_secret=…`) must not bring a secret into the log either.
 */
export function pathOf(request: FastifyRequest): string {
  return /^[\w/.-]{0,200}/.exec(request.raw.url ?? '')?.[0] ?? '';
}
