import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Metrics } from '../http/metrics.ts';

/** One log line per request, and its count in the metrics. */
export class AccessLog {
  readonly #metrics: Metrics;
  readonly #log: Logger;
  readonly #paths: ReadonlySet<string>;

  /** With the paths that are routes themselves: to ask Fastify for a request's route costs as much as to log it. */
  constructor(metrics: Metrics, log: Logger, paths: ReadonlySet<string>) {
    this.#metrics = metrics;
    this.#log = log;
    this.#paths = paths;
  }

  add(request: FastifyRequest, { statusCode: status, elapsedTime: milliseconds }: FastifyReply): void {
    const { id, method } = request;
    const path = pathOf(request);
    this.#log.info({ request_id: id, method, path, status, ms: Math.round(milliseconds * 100) / 100 }, 'answered');
    this.#metrics.answered(this.#routeOf(request, path), method, status, milliseconds);
  }

  /** The route's pattern: addresses that clients make up must not become labels. */
  #routeOf(request: FastifyRequest, path: string): string {
    if (request.is404) return 'none';
    return (this.#paths.has(path) ? path : request.routeOptions.url) ?? 'none';
  }
}

/**
 * The path without the query. Cut at the first character that no path of ours has: a mistyped address
 * (`/offers&site_secret=…`) must not bring a secret into the log either.
 */
export function pathOf(request: FastifyRequest): string {
  return /^[\w/.-]{0,200}/.exec(request.raw.url ?? '')?.[0] ?? '';
}
