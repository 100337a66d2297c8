import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Gauge, LabelledGauge } from '../../kit/http/gauge.ts';

/** Upper bounds of the latency histogram: from a page out of memory to one that somebody waits for. Seconds. */
const latencyBounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

interface Latencies {
  /** Answers per bound, each counted once; the last for those beyond all bounds. */
  counts: number[];
  seconds: number;
}

/** What was answered at one route. */
interface Route {
  /** How many by method and status. */
  answers: Map<string, Map<number, number>>;
  latencies: Latencies;
}

/**
 * One log line per request, and counts of them for `/metrics`, by route: there are few routes, and no label comes from
 * a client.
 */
export class AccessLog {
  readonly #routes = new Map<string, Route>();
  readonly #log: Logger;
  #paths: ReadonlySet<string> = new Set();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Tells the paths that are routes themselves: to ask Fastify for a request's route costs as much as to log it. */
  expect(paths: ReadonlySet<string>): void {
    this.#paths = paths;
  }

  /** A request that was answered, or whose client has gone. */
  add(request: FastifyRequest, { statusCode: status, elapsedTime: milliseconds }: FastifyReply): void {
    const { id, method } = request;
    const path = pathOf(request);
    this.#log.info({ request_id: id, method, path, status, ms: Math.round(milliseconds * 100) / 100 }, 'answered');
    this.#count(this.#routeOf(request, path), method, status, milliseconds);
  }

  #count(path: string, method: string, status: number, milliseconds: number): void {
    let route = this.#routes.get(path);
    if (route === undefined) {
      route = { answers: new Map(), latencies: { counts: latencyBounds.map(() => 0).concat(0), seconds: 0 } };
      this.#routes.set(path, route);
    }
    const { answers, latencies } = route;
    let byStatus = answers.get(method);
    if (byStatus === undefined) answers.set(method, (byStatus = new Map()));
    byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
    const seconds = milliseconds / 1000;
    const bound = latencyBounds.findIndex((most) => seconds <= most);
    const column = bound === -1 ? latencyBounds.length : bound;
    latencies.counts[column] = (latencies.counts[column] ?? 0) + 1;
    latencies.seconds += seconds;
  }

  /** All of it in Prometheus' text format, with gauges of this moment. */
  text(gauges: readonly (Gauge | LabelledGauge)[]): string {
    return [
      ...head('offerline_http_requests_total', 'Answered requests.', 'counter'),
      ...this.#counts().map(
        ({ path, method, status, count }) =>
          `offerline_http_requests_total{path="${path}",method="${method}",status="${status}"} ${count}`,
      ),
      ...head('offerline_rate_limited_requests_total', 'Requests refused by a rate limit.', 'counter'),
      ...[
        ...Map.groupBy(
          this.#counts().filter(({ status }) => status === 429),
          ({ path }) => path,
        ),
      ].map(
        ([path, refused]) =>
          `offerline_rate_limited_requests_total{path="${path}"} ${refused.reduce((sum, { count }) => sum + count, 0)}`,
      ),
      ...this.#histogramLines(),
      ...gauges.flatMap((gauge) => [
        ...head(gauge.name, gauge.help, 'type' in gauge ? (gauge.type ?? 'gauge') : 'gauge'),
        ...('value' in gauge
          ? [`${gauge.name} ${valueText(gauge.value)}`]
          : gauge.values.map(
              ([label, value]) => `${gauge.name}{${gauge.label}="${labelText(label)}"} ${valueText(value)}`,
            )),
      ]),
      '',
    ].join('\n');
  }

  /** The route's pattern: addresses that clients make up must not become labels. */
  #routeOf(request: FastifyRequest, path: string): string {
    if (request.is404) return 'none';
    return (this.#paths.has(path) ? path : request.routeOptions.url) ?? 'none';
  }

  #counts(): { path: string; method: string; status: number; count: number }[] {
    return [...this.#routes].flatMap(([path, { answers }]) =>
      [...answers].flatMap(([method, byStatus]) =>
        [...byStatus].map(([status, count]) => ({ path, method, status, count })),
      ),
    );
  }

  #histogramLines(): string[] {
    const name = 'offerline_http_request_duration_seconds';
    const lines = head(name, 'Time from a request to its answer.', 'histogram');
    for (const [path, { latencies }] of this.#routes) {
      let upTo = 0;
      for (const [column, count] of latencies.counts.entries()) {
        upTo += count;
        lines.push(`${name}_bucket{path="${path}",le="${latencyBounds[column] ?? '+Inf'}"} ${upTo}`);
      }
      lines.push(`${name}_sum{path="${path}"} ${latencies.seconds}`, `${name}_count{path="${path}"} ${upTo}`);
    }
    return lines;
  }
}

function head(name: string, help: string, type: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}

/**
 * The path without the query. Cut at the first character that no path of ours has: a mistyped address
 * (`/offers&site_secret=…`) must not bring a secret into the log either.
 */
export function pathOf(request: FastifyRequest): string {
  return /^[\w/.-]{0,200}/.exec(request.raw.url ?? '')?.[0] ?? '';
}

/** As Prometheus reads it: a site's key may have any character. */
function labelText(label: string): string {
  return label
    .replaceAll('\\', String.raw`\\`)
    .replaceAll('"', String.raw`\"`)
    .replaceAll('\n', String.raw`\n`);
}

function valueText(value: number): string {
  return value === Infinity ? '+Inf' : String(value);
}
