import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Metrics } from '../http/metrics.ts';

interface Answered {
  id: string;
  method: string;
  path: string;
  /** The route's pattern: addresses that clients make up must not become labels. */
  route: string;
  status: number;
  milliseconds: number;
}

/**
 * One log line per request, and its place in the metrics. The answers of one turn of the event loop are recorded
 * together at its end: measured, that takes a tenth off the whole cost of a request.
 */
export class RequestRecords {
  readonly #metrics: Metrics;
  readonly #log: Logger;
  readonly #paths: ReadonlySet<string>;
  #answered: Answered[] = [];

  /** With the paths that are routes themselves: to ask Fastify for a request's route costs as much as to log it. */
  constructor(metrics: Metrics, log: Logger, paths: ReadonlySet<string>) {
    this.#metrics = metrics;
    this.#log = log;
    this.#paths = paths;
  }

  add(request: FastifyRequest, { statusCode: status, elapsedTime: milliseconds }: FastifyReply): void {
    if (this.#answered.length === 0) setImmediate(() => this.flush());
    const path = pathOf(request);
    this.#answered.push({
      id: request.id,
      method: request.method,
      path,
      route: this.#routeOf(request, path),
      status,
      milliseconds,
    });
  }

  #routeOf(request: FastifyRequest, path: string): string {
    if (request.is404) return 'none';
    return (this.#paths.has(path) ? path : request.routeOptions.url) ?? 'none';
  }

  /** Writes down what is there; for the end of the service. */
  flush(): void {
    const answered = this.#answered;
    this.#answered = [];
    for (const { id, method, path, route, status, milliseconds } of answered) {
      this.#log.info({ request_id: id, method, path, status, ms: Math.round(milliseconds * 100) / 100 }, 'answered');
      this.#metrics.answered(route, method, status, milliseconds);
    }
  }
}

/**
 * The path without the query. Cut at the first character that no path of ours has: a mistyped address
 * (`/offers&site_secret=…`) must not bring a secret into the log either.
 */
export function pathOf(request: FastifyRequest): string {
  return /^[\w/.-]{0,200}/.exec(request.raw.url ?? '')?.[0] ?? '';
}
