import type { IncomingHttpHeaders } from 'node:http';
import type { Settings } from '../../kit/config/settings.ts';
import { isFromThisMachine } from '../../kit/http/loopback.ts';
import { Metrics, metricsContentType } from '../../kit/metrics/metrics.ts';
import { aheadOfClock, futureTimestampsAdvice } from '../../kit/time/ahead-of-clock.ts';
import { cacheControl } from '../http/caching.ts';
import { noStoreResponse, snapshotHeaders, withHeaders } from '../http/response.ts';
import type { FixedRoute, FixedRoutes, HttpResponse } from '../http/response.ts';
import { pageBody, PreparedPage } from '../pages/prepared-page.ts';
import type { PublishedSnapshot } from '../snapshot/published-snapshot.ts';
import { measureDeliveries, measureSites } from './delivery-metrics.ts';

export interface HealthOptions {
  settings: Pick<Settings, 'snapshot_max_age_minutes'>;
  snapshot: () => PublishedSnapshot | undefined;
  /** Metrics of the service, to which those of the snapshot are added. */
  metrics: Metrics;
  moreMetrics: Metrics | undefined;
  /** The interface as OpenAPI, once all routes are there. */
  describe: () => object;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/**
 * Answers for machines that watch the service, without credentials. `/metrics` has postbacks by site, under its key, on
 * this machine alone: a key of Variant A opens its offers.
 */
export class Health {
  readonly #options: HealthOptions;
  readonly #siteMetrics = new Metrics();
  #description: PreparedPage | undefined;
  readonly routes: FixedRoutes;

  constructor(options: HealthOptions) {
    this.#options = options;
    this.#measure();
    this.routes = new Map<string, FixedRoute>([
      ['/healthz', () => this.#alive()],
      ['/servez', () => this.#serving()],
      ['/readyz', () => this.#ready()],
      ['/metrics', (request, remoteAddress) => this.#measured(isFromThisMachine(request, remoteAddress))],
      ['/openapi.json', (request) => this.#described(request)],
    ]);
  }

  /** The process lives: that it answers is the answer. */
  #alive(): HttpResponse {
    return noStoreResponse(200, { status: 'ok' }, this.#options.snapshot());
  }

  /** Feeds can be served, however old: what a proxy asks, which would find no other service that has newer ones. */
  #serving(): HttpResponse {
    const snapshot = this.#options.snapshot();
    return snapshot === undefined
      ? nothingServed()
      : noStoreResponse(200, { status: 'serving', ...aboutSnapshot(snapshot) }, snapshot);
  }

  /** Feeds can be served, are not older than they may be, and not ahead of the clock. */
  #ready(): HttpResponse {
    const snapshot = this.#options.snapshot();
    if (snapshot === undefined) return nothingServed();
    const { snapshot_max_age_minutes: maxMinutes } = this.#options.settings;
    const about = aboutSnapshot(snapshot);
    if (this.#aheadOf(snapshot) > 0) {
      return noStoreResponse(
        503,
        {
          status: 'stale',
          ...about,
          reason: `the snapshot is ahead of this machine's clock, and none takes its place: ${futureTimestampsAdvice}`,
        },
        snapshot,
      );
    }
    if (maxMinutes !== undefined && this.#ageOf(snapshot) > maxMinutes * 60) {
      return noStoreResponse(
        503,
        { status: 'stale', ...about, reason: `the snapshot is older than ${maxMinutes} minutes` },
        snapshot,
      );
    }
    return noStoreResponse(200, { status: 'ready', ...about }, snapshot);
  }

  #measure(): void {
    const { metrics, snapshot } = this.#options;
    metrics.gauge('offerline_snapshot_present', 'Whether a snapshot is served.', () =>
      snapshot() === undefined ? 0 : 1,
    );
    metrics.gaugeOf(
      snapshot,
      'offerline_snapshot_age_seconds',
      'Time since the as-of of the snapshot that is served; infinite where that is ahead of the clock, so that nobody takes it for young.',
      (served) => this.#ageOf(served),
    );
    metrics.gaugeOf(
      snapshot,
      'offerline_snapshot_ahead_seconds',
      'By how much the as-of of the snapshot that is served is ahead of the clock; 0 where by no more than clocks differ.',
      (served) => this.#aheadOf(served),
    );
    metrics.gaugeOf(
      snapshot,
      'offerline_snapshot_offers',
      'Active offers in the snapshot that is served.',
      ({ offers }) => offers.length,
    );
    metrics.gaugeOf(
      snapshot,
      'offerline_price_lists',
      'Commissions whose prices are kept.',
      ({ keptPrices }) => keptPrices.commissions,
    );
    metrics.gaugeOf(
      snapshot,
      'offerline_price_list_bytes',
      'Memory held by the prices of commissions.',
      ({ keptPrices }) => keptPrices.bytes,
    );
    metrics.gaugeOf(
      snapshot,
      'offerline_price_list_bytes_limit',
      'Beyond so much, the prices unused for longest are dropped.',
      ({ keptPrices }) => keptPrices.maxBytes,
    );
    measureDeliveries(metrics, snapshot);
    measureSites(this.#siteMetrics, snapshot);
  }

  async #measured(withSites: boolean): Promise<HttpResponse> {
    const { metrics, moreMetrics } = this.#options;
    const shown = [metrics, ...(moreMetrics ? [moreMetrics] : []), ...(withSites ? [this.#siteMetrics] : [])];
    const texts = await Promise.all(shown.map((each) => each.text()));
    const answer = withHeaders(noStoreResponse(200, {}, this.#options.snapshot()), {
      'content-type': metricsContentType,
    });
    return { ...answer, body: Buffer.from(texts.join('\n')) };
  }

  /** The interface as OpenAPI. */
  async #described(request: IncomingHttpHeaders): Promise<HttpResponse> {
    const page = (this.#description ??= new PreparedPage(
      { 'cache-control': cacheControl.page },
      pageBody(Buffer.from(JSON.stringify(this.#options.describe()))),
    ));
    return withHeaders(await page.respond(request), snapshotHeaders(this.#options.snapshot()));
  }

  /** Seconds. */
  #ageOf(snapshot: PublishedSnapshot): number {
    return this.#aheadOf(snapshot) > 0 ? Infinity : Math.max(0, this.#options.now() - Date.parse(snapshot.asOf)) / 1000;
  }

  /** Seconds. */
  #aheadOf(snapshot: PublishedSnapshot): number {
    return aheadOfClock(snapshot.asOf, this.#options.now()) / 1000;
  }
}

function nothingServed(): HttpResponse {
  return noStoreResponse(503, { status: 'unavailable', reason: 'no published snapshot that is whole' }, undefined);
}

function aboutSnapshot({ id, asOf }: PublishedSnapshot): { snapshot_id: string; as_of: string } {
  return { snapshot_id: id, as_of: asOf };
}
