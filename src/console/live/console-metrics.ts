import type { FastifyReply, FastifyRequest } from 'fastify';
import { Metrics } from '../../kit/metrics/metrics.ts';

/** The parts of a console whose present state is measured. */
export interface MeasuredConsole {
  /** The as-of of the current snapshot; undefined before one is published. */
  asOf: () => string | undefined;
  /** Jobs of this console whose processes run. */
  runningJobs: () => number;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** Upper bounds of the latency histogram: from a cached page to the limit of a statement. Seconds. */
const latencyBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/** Measures of a console, for `/metrics`. Labels are patterns of routes, which no client makes up. */
export class ConsoleMetrics {
  readonly metrics = new Metrics();
  readonly #requests = this.metrics.counter('offerline_console_requests_total', 'Answered requests of the console.', [
    'path',
    'status',
  ]);
  readonly #durations = this.metrics.histogram(
    'offerline_console_request_duration_seconds',
    'Time from a request of the console to its answer.',
    latencyBounds,
    ['path'],
  );

  constructor({ asOf, runningJobs, now }: MeasuredConsole) {
    this.metrics.buildInfo();
    this.metrics.gauge(
      'offerline_console_snapshot_age_seconds',
      'Time since the as-of of the snapshot that pages show.',
      () => {
        const shown = asOf();
        return shown === undefined ? undefined : (now() - Date.parse(shown)) / 1000;
      },
    );
    this.metrics.gauge('offerline_console_jobs_running', 'Actions of operators that run.', runningJobs);
  }

  /** A request that was answered, or whose client has gone. */
  add(request: FastifyRequest, { statusCode: status, elapsedTime: milliseconds }: FastifyReply): void {
    const path = request.is404 ? 'none' : (request.routeOptions.url ?? 'none');
    this.#requests.inc({ path, status });
    this.#durations.observe({ path }, milliseconds / 1000);
  }
}
