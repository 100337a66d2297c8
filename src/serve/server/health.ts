import type { IncomingHttpHeaders } from 'node:http';
import type { Settings } from '../../kit/config/settings.ts';
import { aheadOfClock, futureTimestampsAdvice } from '../../kit/time/ahead-of-clock.ts';
import { noStoreResponse, snapshotHeaders, withHeaders } from '../http/response.ts';
import type { FixedRoute, FixedRoutes, HttpResponse } from '../http/response.ts';
import { cacheControl } from '../http/caching.ts';
import type { Gauge, LabelledGauge } from '../../kit/http/gauge.ts';
import type { AccessLog } from './access-log.ts';
import { isFromThisMachine } from '../../kit/http/loopback.ts';
import { deliveryGauges, siteGauges } from './delivery-gauges.ts';
import { openApiDocument } from '../api/openapi/document.ts';
import { pageBody, PreparedPage } from '../pages/prepared-page.ts';
import type { PublishedSnapshot } from '../snapshot/published-snapshot.ts';

/**
 * What a machine asks of the service. No credentials; how the postbacks of each site stand, by its key, `/metrics`
 * tells on this machine alone: a key of Variant A opens its offers.
 */
export class Health {
  readonly #settings: Pick<Settings, 'snapshot_max_age_minutes'>;
  readonly #snapshot: () => PublishedSnapshot | undefined;
  readonly #accessLog: AccessLog;
  readonly #gauges: () => (Gauge | LabelledGauge)[];
  readonly #now: () => number;
  #description: PreparedPage | undefined;
  readonly routes: FixedRoutes;

  /** `gauges`: what the service tells of itself; `now`: milliseconds since the epoch. */
  constructor(
    settings: Pick<Settings, 'snapshot_max_age_minutes'>,
    snapshot: () => PublishedSnapshot | undefined,
    accessLog: AccessLog,
    gauges: () => (Gauge | LabelledGauge)[],
    now: () => number,
  ) {
    this.#settings = settings;
    this.#snapshot = snapshot;
    this.#accessLog = accessLog;
    this.#gauges = gauges;
    this.#now = now;
    this.routes = new Map<string, FixedRoute>([
      ['/healthz', () => this.#alive()],
      ['/readyz', () => this.#ready()],
      ['/metrics', (request, remoteAddress) => this.#measured(isFromThisMachine(request, remoteAddress))],
      ['/openapi.json', (request) => this.#described(request)],
    ]);
  }

  /** The process lives: that it answers is the answer. */
  #alive(): HttpResponse {
    return noStoreResponse(200, { status: 'ok' }, this.#snapshot());
  }

  /** Feeds can be served, and are not older than they may be. */
  #ready(): HttpResponse {
    const snapshot = this.#snapshot();
    if (snapshot === undefined)
      return noStoreResponse(503, { status: 'unavailable', reason: 'no published snapshot that is whole' }, undefined);
    const { snapshot_max_age_minutes: maxMinutes } = this.#settings;
    const about = { snapshot_id: snapshot.id, as_of: snapshot.asOf };
    if (this.#aheadOf(snapshot) > 0) {
      return noStoreResponse(
        503,
        {
          status: 'stale',
          ...about,
          reason: `the snapshot lies ahead of this machine's clock, and none takes its place: ${futureTimestampsAdvice}`,
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

  /** Prometheus' text format. */
  #measured(withSites: boolean): HttpResponse {
    const snapshot = this.#snapshot();
    const gauges: (Gauge | LabelledGauge)[] = [
      {
        name: 'offerline_snapshot_present',
        help: 'Whether a snapshot is served.',
        value: snapshot === undefined ? 0 : 1,
      },
      ...this.#gauges(),
    ];
    if (snapshot !== undefined) {
      gauges.push(
        {
          name: 'offerline_snapshot_age_seconds',
          help: 'Time since the as-of of the snapshot that is served; infinite where that lies ahead of the clock, so that nobody takes it for young.',
          value: this.#ageOf(snapshot),
        },
        {
          name: 'offerline_snapshot_ahead_seconds',
          help: 'By how much the as-of of the snapshot that is served lies ahead of the clock; 0 where by no more than clocks differ.',
          value: this.#aheadOf(snapshot),
        },
        {
          name: 'offerline_snapshot_offers',
          help: 'Active offers in the snapshot that is served.',
          value: snapshot.offers.length,
        },
        ...snapshot.gauges,
        ...deliveryGauges(snapshot),
        ...(withSites ? siteGauges(snapshot) : []),
      );
    }
    const answer = withHeaders(noStoreResponse(200, {}, snapshot), {
      'content-type': 'text/plain; version=0.0.4; charset=utf-8',
    });
    return { ...answer, body: Buffer.from(this.#accessLog.text(gauges)) };
  }

  /** The interface as OpenAPI. */
  async #described(request: IncomingHttpHeaders): Promise<HttpResponse> {
    const page = (this.#description ??= new PreparedPage(
      { 'cache-control': cacheControl.page },
      pageBody(Buffer.from(JSON.stringify(openApiDocument()))),
    ));
    return withHeaders(await page.respond(request), snapshotHeaders(this.#snapshot()));
  }

  /** Seconds. */
  #ageOf(snapshot: PublishedSnapshot): number {
    return this.#aheadOf(snapshot) > 0 ? Infinity : Math.max(0, this.#now() - Date.parse(snapshot.asOf)) / 1000;
  }

  /** Seconds. */
  #aheadOf(snapshot: PublishedSnapshot): number {
    return aheadOfClock(snapshot.asOf, this.#now()) / 1000;
  }
}
