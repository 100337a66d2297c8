import { Metrics, type LabelledValue } from '../../kit/metrics/metrics.ts';
import type { EventKind } from '../../kit/vocabulary/values.ts';
import type { ClickOutcome } from '../clicks/click-answer.ts';
import type { LogObserver } from '../logs/log-part.ts';
import type { RowLog } from '../logs/row-log.ts';
import type { RouteFollower } from '../routes/route-follower.ts';

/** The parts of a tracker whose present state is measured. */
export interface MeasuredTracker {
  logs: readonly RowLog[];
  routes: RouteFollower;
  isReady: () => boolean;
  now: () => number;
}

const seconds = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1, 2.5];
const rows = [1, 2, 4, 8, 16, 32, 64, 128, 256, 1024, 10_000];

/** Measures of a tracker, for `/metrics` and the log. No label comes from a client. */
export class TrackerMetrics {
  readonly #metrics = new Metrics();
  readonly #clicks = this.#metrics.counter(
    'offerline_tracker_clicks_total',
    'Requests for links by outcome; `click` is one that was recorded.',
    ['outcome'],
  );
  readonly #postbacks = this.#metrics.counter(
    'offerline_tracker_postbacks_total',
    'Conversions that sources reported, by outcome.',
    ['source', 'outcome'],
  );
  readonly #overCap = this.#metrics.counter(
    'offerline_tracker_over_cap_total',
    'Credits that were recorded although their offer had reached its daily cap.',
  );
  readonly #unknown = this.#metrics.counter(
    'offerline_tracker_unknown_total',
    'Recorded clicks of which the country or the device is not known.',
    ['what'],
  );
  readonly #appendSeconds = this.#metrics.histogram(
    'offerline_tracker_append_seconds',
    'Time from the beginning of a batch until it is answered for: with durability power, what the disk takes.',
    seconds,
    ['kind'],
  );
  readonly #batchRows = this.#metrics.histogram(
    'offerline_tracker_batch_rows',
    'Rows that went to the disk together.',
    rows,
    ['kind'],
  );
  readonly #syncSeconds = this.#metrics.histogram(
    'offerline_tracker_sync_seconds',
    'Time that it took to force a log to the disk, in durability process.',
    seconds,
    ['kind'],
  );
  /** Answers since the last summary, by kind and outcome. */
  #answered: Record<string, number> = {};

  constructor() {
    this.#metrics.buildInfo();
    for (const what of ['geo', 'agent'] as const) this.#unknown.inc({ what }, 0);
  }

  countClick(outcome: ClickOutcome): void {
    this.#clicks.inc({ outcome });
    this.#countAnswer(`clicks_${outcome}`);
  }

  /** `source`: as `sources.json` names it; undefined where it does not. */
  countPostback(source: string | undefined, outcome: string): void {
    this.#postbacks.inc({ source: source ?? '', outcome });
    this.#countAnswer(`postbacks_${outcome}`);
  }

  countOverCap(): void {
    this.#overCap.inc();
  }

  countUnknown(what: 'geo' | 'agent'): void {
    this.#unknown.inc({ what });
  }

  /** Observes the log of a kind. */
  observerOf(kind: EventKind): LogObserver {
    return {
      onAppended: (took, count) => {
        this.#appendSeconds.observe({ kind }, took);
        this.#batchRows.observe({ kind }, count);
      },
      onSynced: (took) => this.#syncSeconds.observe({ kind }, took),
    };
  }

  /** Adds what is read from the tracker when metrics are asked for. */
  watch({ logs, routes, isReady, now }: MeasuredTracker): void {
    this.#metrics.gauge('offerline_tracker_ready', 'Whether clicks can be recorded and led somewhere.', () =>
      Number(isReady()),
    );
    this.#metrics.gauge(
      'offerline_tracker_routes_refused',
      'Files of routes that could not be used since the last good one.',
      () => routes.refused,
    );
    this.#metrics.gauge(
      'offerline_tracker_routes_offers',
      'Offers in the routes, gone ones too.',
      () => routes.current?.head.offers,
    );
    this.#metrics.gauge(
      'offerline_tracker_routes_age_seconds',
      'Time since the as-of of the snapshot that the routes are of.',
      () => routes.current && Math.max(0, (now() - Date.parse(routes.current.head.as_of)) / 1000),
    );
    const ofLogs = (read: (log: RowLog) => number) => (): LabelledValue<'kind'>[] =>
      logs.map((log) => ({ labels: { kind: log.kind }, value: read(log) }));
    this.#metrics.gauges(
      'offerline_tracker_waiting_rows',
      'Rows that are not on the disk yet.',
      ['kind'],
      ofLogs(({ waiting }) => waiting),
    );
    this.#metrics.gauges(
      'offerline_tracker_part_bytes',
      'Size of the log that is written to now; 0 where there is none.',
      ['kind'],
      ofLogs(({ part }) => part?.bytes ?? 0),
    );
    this.#metrics.gauges(
      'offerline_tracker_part_age_seconds',
      'Age of the log that is written to now; 0 where there is none.',
      ['kind'],
      ofLogs(({ part }) => (part === undefined ? 0 : Math.max(0, (now() - part.openedAt) / 1000))),
    );
  }

  /** In Prometheus' text format. */
  text(): Promise<string> {
    return this.#metrics.text();
  }

  /** Takes the answers since the last call, by kind and outcome; undefined where there were none. */
  takeSummary(): Record<string, number> | undefined {
    const answered = this.#answered;
    this.#answered = {};
    return Object.keys(answered).length === 0 ? undefined : answered;
  }

  #countAnswer(name: string): void {
    this.#answered[name] = (this.#answered[name] ?? 0) + 1;
  }
}
